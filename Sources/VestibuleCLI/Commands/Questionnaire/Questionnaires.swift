import BusProtocol
import EventLoop
import JSONText

/// The definitions of questionnaires.
enum Questionnaires: DocumentClient {
    static let commands = QuestionnaireCommand.commands
    static let noun = "definition"
    static let service = "questionnaire"

    @Loop static func create(_ content: JSONValue, of key: String, _ bus: BusAccess) async throws -> Int64 {
        try await BusCommand.asOperator(CreateDraft(questionnaire: key, definition: content), bus).number
    }

    @Loop static func check(_ draft: String, of key: String, _ bus: BusAccess) async throws -> DraftReport {
        try await BusCommand.asOperator(CheckDraft(questionnaire: key, draft: draft), bus)
    }

    @Loop static func publish(
        _ draft: String, of key: String, accepting accepted: String?, _ bus: BusAccess
    ) async throws -> PublishedDraft {
        let made = try await BusCommand.asOperator(
            PublishDraft(questionnaire: key, draft: draft, acceptClass: accepted), bus)
        var published = PublishedDraft(
            version: made.version, changeClass: made.changeClass, changes: made.changes ?? [])
        if made.openSessions > 0 {
            let (sessions, answers) = (
                DraftText.count(made.openSessions, "open session"), DraftText.count(made.answers, "answer")
            )
            published.note =
                "\(sessions) of older versions, with \(answers) to what the change touches: "
                + "vestibule questionnaire migrate \(key) moves them."
        }
        return published
    }

    @Loop static func delete(_ draft: String, of key: String, _ bus: BusAccess) async throws {
        _ = try await BusCommand.asOperator(DeleteDraft(questionnaire: key, draft: draft), bus)
    }

    /// The published `versions`, the oldest first, and the keys of the profile's `fields`.
    @Loop static func system(for key: String, _ bus: BusAccess) async throws -> JSONValue {
        let overview = try await BusCommand.asOperator(ViewQuestionnaire(questionnaire: key), bus)
        var contents: [JSONValue] = []
        for version in overview.versions.map(\.version).sorted() {
            let request = GetQuestionnaireVersion(questionnaire: key, version: String(version))
            contents.append(try await BusCommand.asOperator(request, bus).definition)
        }
        let fields = try await BusCommand.asOperator(GetProfileFields(), bus).fields
        return ["versions": .array(contents), "fields": .array(fields.map { .string($0.key) })]
    }

    static func affected(_ details: [String: JSONValue]) -> String {
        let sessions = DraftText.count(details["openSessions"]?.integerValue ?? 0, "open session")
        return "\(sessions) and \(DraftText.count(details["answers"]?.integerValue ?? 0, "answer"))"
    }
}
