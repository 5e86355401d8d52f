import BusProtocol
import BusRuntime
import EventLoop
import Testing

extension SessionOpened: MessageContract {
    private static func sample(_ questionnaire: String, version: Int64, sequence: Int64, _ at: Timestamp)
        -> SessionOpened
    {
        SessionOpened(
            personID: Sample.person, personSequence: sequence, sessionID: Sample.session, questionnaire: questionnaire,
            version: version, openedAt: at)
    }

    static let canonical = sample("yoked-compat", version: 2, sequence: 3, Sample.everyday)
    static let minimal = sample("a", version: 1, sequence: 0, Sample.earliest)
    static let maximal = sample(
        DraftSamples.longest, version: 2_147_483_647, sequence: Sample.largestInteger, Sample.latest)
    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<SessionOpened> {
        let person = try await profile.person()
        return Asked(
            SessionOpened(
                personID: person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat", version: 2,
                openedAt: .now()), as: .questionnaire)
    }

    static let provocations: [String: Provocation<ProfileProvider, SessionOpened>] = [:]
}

@Suite("questionnaire.session-opened") @Loop struct SessionOpenedContractTests {
    /// The event comes once for each way to open a session, also with concurrent and later requests.
    @Test func eachSessionIsPublishedAsOpenedOnce() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let (reader, writer, opener) = (Identifier.random(), Identifier.random(), Identifier.random())
            let smoking = ResponseItem(question: "smoking", value: "never")
            let views = (0..<8).map { _ in
                Loop.spawn { try await questionnaire.reply(to: Asked(GetQuestions(), for: reader)) }
            }
            var sessions: [Identifier: Set<Identifier>] = [:]
            for view in views { sessions[reader, default: []].insert(try await view.value.sessionId) }
            for _ in 0..<2 {
                let written = try await questionnaire.reply(to: questionnaire.item(smoking, for: writer))
                sessions[writer, default: []].insert(written.sessionId)
                let opened = try await questionnaire.reply(
                    to: Asked(OpenSession(questionnaire: "yoked-compat"), for: opener))
                sessions[opener, default: []].insert(opened.id)
            }
            #expect(sessions.values.allSatisfy { $0.count == 1 })
            let told = try await questionnaire.opened.atLeast(3)
            #expect(told.count == 3 && told.allSatisfy { $0.questionnaire == "yoked-compat" && $0.version == 3 })
            #expect(told.allSatisfy { sessions[$0.personID] == [$0.sessionID] && $0.personSequence == 1 })
            #expect(try await questionnaire.stage.rows("SELECT sum(last) FROM outbox_sequences") == "3")
        }
    }
}
