import BusProtocol
import EventLoop
import JSONText

/// `vestibule stimuli`: checks, compares, imports and publishes the set of pictures that people compare.
///
/// `check` and `diff` work without a running system and without a database.
enum StimuliCommand {
    static let commands = CommandGroup(
        name: "stimuli",
        usages: ["ls", "check FILE", "diff OLD NEW", "import FILE", "publish DRAFT", "delete-draft DRAFT"])

    static func run(_ words: ArraySlice<String>) throws {
        switch words.first {
        case "ls":
            try DraftCommand<StimulusSets>.list(words.dropFirst(), of: ViewStimulusSets()) { overview in
                (overview.versions.map { ($0.version, $0.publishedAt) }, overview.drafts)
            }
        default: guard try DraftCommand<StimulusSets>.run(words) else { throw commands.misuse(of: words.first) }
        }
    }
}

/// The versions of the stimulus set.
enum StimulusSets: DocumentClient {
    static let commands = StimuliCommand.commands
    static let noun = "set"
    static let service = "visual-preference"
    static let onlyKey: String? = "stimuli"

    @Loop static func create(_ content: JSONValue, of key: String, _ bus: BusAccess) async throws -> Int64 {
        try await BusCommand.asOperator(CreateStimulusSetDraft(set: content), bus).number
    }

    @Loop static func check(_ draft: String, of key: String, _ bus: BusAccess) async throws -> DraftReport {
        try await BusCommand.asOperator(CheckStimulusSetDraft(draft: draft), bus)
    }

    @Loop static func publish(
        _ draft: String, of key: String, accepting accepted: String?, _ bus: BusAccess
    ) async throws -> PublishedDraft {
        let made = try await BusCommand.asOperator(PublishStimulusSetDraft(draft: draft, acceptClass: accepted), bus)
        return PublishedDraft(version: made.version, changeClass: made.changeClass, changes: made.changes)
    }

    @Loop static func delete(_ draft: String, of key: String, _ bus: BusAccess) async throws {
        _ = try await BusCommand.asOperator(DeleteStimulusSetDraft(draft: draft), bus)
    }

    /// A set is checked by itself.
    @Loop static func system(for key: String, _ bus: BusAccess) async throws -> JSONValue { .null }

    static func affected(_ details: [String: JSONValue]) -> String { "the sessions that begin from then on" }
}
