import Foundation
import PackagePlugin

/// Makes `MessageCatalogue.all` and `MessageCatalogue.digest` from the files in which a target declares messages. A new
/// message needs no line in a list.
@main
struct ListMessages: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SourceModuleTarget else { return [] }
        let files = target.sourceFiles(withSuffix: "swift").map(\.url)
        let output = context.pluginWorkDirectoryURL.appending(path: "MessageMessageCatalogue+All.swift")
        return [
            .buildCommand(
                displayName: "Listing the messages of \(target.name)",
                executable: try context.tool(named: "MessageLister").url,
                arguments: [output.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
        ]
    }
}
