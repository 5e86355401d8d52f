import BusProtocol
import EventLoop
import JSONText

/// `vestibule fields`, `vestibule stimuli`: check, compare, import and publish a document of a kind that has only one.
///
/// `check` and `diff` work without a running system and without a database.
enum SingleDocumentCommand {
    static let kinds: [any SingleDocument.Type] = [FieldLibraryMessages.self, StimulusSetMessages.self]

    /// - Returns: whether there is a document of this name.
    static func run(_ name: String, _ words: ArraySlice<String>) throws -> Bool {
        guard let kind = kinds.first(where: { $0.name == name }) else { return false }
        try run(words, of: kind)
        return true
    }

    private static func run<Kind: SingleDocument>(_ words: ArraySlice<String>, of kind: Kind.Type) throws {
        typealias Client = SingleDocumentClient<Kind>
        switch words.first {
        case "ls": try DraftCommand<Client>.list(words.dropFirst())
        default: guard try DraftCommand<Client>.run(words) else { throw Client.commands.misuse(of: words.first) }
        }
    }

    /// The JSON Schema of each kind by its file, as the service's program has it.
    static func schemas() throws -> [(file: String, text: String)] {
        try kinds.map { kind in
            let program = LocalSystem.program(of: kind.service.rawValue)
            return ("\(kind.name).json", try Subprocess.run([program, "--\(kind.noun)-schema"]))
        }
    }

    /// The lines of the help text.
    static var help: String {
        kinds.map { kind in
            """
              vestibule \(kind.name) ls [--state DIR] [--json]
                                              versions and drafts of \(kind.title)
              vestibule \(kind.name) check FILE [--state DIR] [--json]
                                              everything that is wrong with a \(kind.noun), with its line; if a system runs, also
                                              compared with the version that it uses
              vestibule \(kind.name) diff OLD NEW [--json]
                                              each change with its class
              vestibule \(kind.name) import FILE [--state DIR]
                                              make a draft of a \(kind.noun), and list what keeps it from being published
              vestibule \(kind.name) publish DRAFT [--accept CLASS] [--state DIR]
                                              make a draft the next version; it affects \(kind.affected)
              vestibule \(kind.name) delete-draft DRAFT [--state DIR]
                                              delete a draft that was not published
            """
        }.joined(separator: "\n")
    }
}

/// The versions of the only document of a kind.
enum SingleDocumentClient<Kind: SingleDocument>: DocumentClient {
    static var commands: CommandGroup {
        CommandGroup(
            name: Kind.name,
            usages: ["ls", "check FILE", "diff OLD NEW", "import FILE", "publish DRAFT", "delete-draft DRAFT"])
    }
    static var noun: String { Kind.noun }
    static var service: String { Kind.service.rawValue }
    static var onlyKey: String? { Kind.name }

    @Loop static func create(_ content: JSONValue, of key: String, _ bus: BusAccess) async throws -> Int64 {
        try await BusCommand.asOperator(Kind.create(content), bus).number
    }

    @Loop static func check(_ draft: String, of key: String, _ bus: BusAccess) async throws -> DraftReport {
        try await BusCommand.asOperator(Kind.check(draft), bus)
    }

    @Loop static func publish(
        _ draft: String, of key: String, accepting accepted: String?, _ bus: BusAccess
    ) async throws -> PublishedDraft {
        let made = try await BusCommand.asOperator(Kind.publish(draft, accepting: accepted), bus)
        return PublishedDraft(version: made.version, changeClass: made.changeClass, changes: made.changes)
    }

    @Loop static func delete(_ draft: String, of key: String, _ bus: BusAccess) async throws {
        _ = try await BusCommand.asOperator(Kind.delete(draft), bus)
    }

    /// The newest version.
    @Loop static func system(for key: String, _ bus: BusAccess) async throws -> JSONValue { try await newest(bus) }

    @Loop static func newest(_ bus: BusAccess) async throws -> JSONValue {
        guard let version = try await BusCommand.asOperator(Kind.view(), bus).versions.first?.version else {
            throw BusError(.serviceUnavailable, "There is no published version of \(Kind.title) yet.")
        }
        return try await BusCommand.asOperator(Kind.read(String(version)), bus).content
    }

    static func affected(_ details: [String: JSONValue]) -> String { Kind.affected }
}
