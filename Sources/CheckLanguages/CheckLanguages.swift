import Foundation
import PackagePlugin

/// Ends the build if a language lacks a text that the package writes to people, and compiles the languages into the
/// program.
///
/// The target has a file `<language tag>.json` for each language except English, and `english-only.txt`.
@main
struct CheckLanguages: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SourceModuleTarget else { return [] }
        let sources = context.package.directoryURL.appending(path: "Sources")
        let code = context.package.targets.compactMap { $0 as? SourceModuleTarget }
            .filter { $0.directoryURL.path.hasPrefix(sources.path + "/") }
            .flatMap { $0.sourceFiles(withSuffix: "swift").map(\.url) }
            .filter { $0.path.hasPrefix(sources.path + "/") }
        let files = target.sourceFiles.map(\.url).filter { ["json", "txt"].contains($0.pathExtension) }
        let output = context.pluginWorkDirectoryURL.appending(path: "Language+Files.swift")
        return [
            .buildCommand(
                displayName: "Checking the languages",
                executable: try context.tool(named: "LanguageChecker").url,
                arguments: [output.path, sources.path] + (files + code).map(\.path), inputFiles: files + code,
                outputFiles: [output])
        ]
    }
}
