import Foundation
import PackagePlugin

/// Embeds every file of a target that is not Swift into its program, so that a service is one file.
///
/// The target gets `EmbeddedFiles.Migrations.m0001_accounts` for `Migrations/m0001_accounts.sql`.
/// `EmbeddedFiles.Migrations.all` has all files of the folder, sorted by name. A new file needs no other change.
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
                arguments: [output.path, target.directoryURL.path] + files.map(\.path), inputFiles: files,
                outputFiles: [output])
        ]
    }
}
