import BusProtocol
import Foundation
import JSONText

enum SchemaCommand {
    private static let commands = CommandGroup(
        name: "schema", usages: ["export DIR"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(words, mostWords: 2)
        guard arguments.rest.count == 2, arguments.rest[0] == "export" else {
            throw commands.misuse(of: arguments.rest.first)
        }
        var files = SchemaExport.files
        files["plan.json"] = try Subprocess.run([LocalSystem.program(of: Plans.service), "--plan-schema"])
        for (name, text) in try SingleDocumentCommand.schemas() { files[name] = text }
        for (name, text) in files {
            let file = URL(filePath: arguments.rest[1]).appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        say("\(files.count) files in \(arguments.rest[1])")
    }
}

/// The files of the exported message catalogue by their paths.
enum SchemaExport {
    static var files: [String: String] {
        var files = ["asyncapi.json": PrettyJSON.text(of: AsyncAPIDocument.value(messagesIn: "messages"))]
        for document in MessageCatalogue.all.map({ MessageDocument($0) }) {
            files["messages/\(document.name).json"] = PrettyJSON.text(of: document.value)
        }
        return files
    }
}
