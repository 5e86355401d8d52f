import Foundation
import PackagePlugin

/// Puts every file of a target that is no Swift into its program, so that a service is one file.
///
/// The target gets `EmbeddedFiles.Migrations.m0001_accounts` for `Migrations/m0001_accounts.sql`, and all files of a folder
/// in the order of their names as `EmbeddedFiles.Migrations.all`. A new file needs no other line.
@main
struct EmbedFiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SourceModuleTarget else { return [] }
        let files = target.sourceFiles.map(\.url).filter { $0.pathExtension != "swift" }
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding the files of \(target.name)",
                executable: try context.tool(named: "FileEmbedder").url,
                arguments: [output.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
        ]
    }
}
