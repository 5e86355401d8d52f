import BusProtocol
import EventLoop
import JSONText

/// `vestibule fields`: checks, compares, imports and publishes the library of profile fields.
///
/// `check` and `diff` work without a running system and without a database.
enum FieldsCommand {
    static let commands = CommandGroup(
        name: "fields",
        usages: ["ls", "check FILE", "diff OLD NEW", "import FILE", "publish DRAFT", "delete-draft DRAFT"])

    static func run(_ words: ArraySlice<String>) throws {
        switch words.first {
        case "ls":
            try DraftCommand<FieldLibraries>.list(words.dropFirst(), of: ViewFieldLibrary()) { overview in
                (overview.versions.map { ($0.version, $0.publishedAt) }, overview.drafts)
            }
        default: guard try DraftCommand<FieldLibraries>.run(words) else { throw commands.misuse(of: words.first) }
        }
    }
}

/// The library of profile fields.
enum FieldLibraries: DocumentClient {
    static let commands = FieldsCommand.commands
    static let noun = "library"
    static let service = "profile"
    static let onlyKey: String? = "fields"

    @Loop static func create(_ content: JSONValue, of key: String, _ bus: BusAccess) async throws -> Int64 {
        try await BusCommand.asOperator(CreateFieldLibraryDraft(library: content), bus).number
    }

    @Loop static func check(_ draft: String, of key: String, _ bus: BusAccess) async throws -> DraftReport {
        try await BusCommand.asOperator(CheckFieldLibraryDraft(draft: draft), bus)
    }

    @Loop static func publish(
        _ draft: String, of key: String, accepting accepted: String?, _ bus: BusAccess
    ) async throws -> PublishedDraft {
        let made = try await BusCommand.asOperator(PublishFieldLibraryDraft(draft: draft, acceptClass: accepted), bus)
        return PublishedDraft(version: made.version, changeClass: made.changeClass, changes: made.changes)
    }

    @Loop static func delete(_ draft: String, of key: String, _ bus: BusAccess) async throws {
        _ = try await BusCommand.asOperator(DeleteFieldLibraryDraft(draft: draft), bus)
    }

    /// The newest version.
    @Loop static func system(for key: String, _ bus: BusAccess) async throws -> JSONValue { try await newest(bus) }

    @Loop static func newest(_ bus: BusAccess) async throws -> JSONValue {
        guard let version = try await BusCommand.asOperator(ViewFieldLibrary(), bus).versions.first?.version else {
            throw BusError(.serviceUnavailable, "The library of fields is not published yet.")
        }
        return try await BusCommand.asOperator(GetFieldLibraryVersion(version: String(version)), bus).library
    }

    static func affected(_ details: [String: JSONValue]) -> String { "every plan" }
}
