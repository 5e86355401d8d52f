import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

extension SessionAmended: MessageContract {
    private static func sample(_ questionnaire: String, version: Int64, sequence: Int64, _ at: Timestamp)
        -> SessionAmended
    {
        SessionAmended(
            personID: Sample.person, personSequence: sequence, sessionID: Sample.session, questionnaire: questionnaire,
            version: version, completedAt: at, amendedAt: at, scores: [:])
    }

    static let canonical = SessionAmended(
        personID: Sample.person, personSequence: 4, sessionID: Sample.session, questionnaire: "yoked-compat",
        version: 2, completedAt: Sample.everyday, amendedAt: Sample.everyday,
        scores: ["values": ["score": 71.5, "answered": 7, "of": 7]])
    static let minimal = sample("a", version: 1, sequence: 0, Sample.earliest)
    static let maximal = sample(
        DraftSamples.longest, version: 2_147_483_647, sequence: Sample.largestInteger, Sample.latest)
    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<SessionAmended> {
        let person = try await profile.person()
        return Asked(
            SessionAmended(
                personID: person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat", version: 2,
                completedAt: .now(), amendedAt: .now(), scores: [:]), as: .questionnaire)
    }

    static let provocations: [String: Provocation<ProfileProvider, SessionAmended>] = [:]
}

@Suite("questionnaire.session-amended") @Loop struct SessionAmendedContractTests {
    @Loop private final class Amendments: RequestHandler {
        let both = LoopPromise<[SessionAmended]>()
        private var heard: [SessionAmended] = []

        func handle(_ request: SessionAmended, context: RequestContext) async throws -> Acknowledged {
            heard.append(request)
            if heard.count == 2 { both.resolve(.success(heard)) }
            return Acknowledged()
        }
    }

    /// A snapshot is made after a later answer, and after the session was reopened and completed again.
    @Test func eachSnapshotAfterTheFirstIsPublishedAsAmended() async throws {
        let amendments = Amendments()
        try await QuestionnaireProvider.run(toldTo: EventRecorder<SessionCompleted>(), amendments) { questionnaire in
            let (session, person) = try await questionnaire.session(
                answers: QuestionnaireProvider.required, complete: true)
            try await questionnaire.reply(
                to: Asked(
                    PutAnswer(
                        questionnaire: "yoked-compat", sessionId: session, question: "sharedDecisions",
                        mutationId: .ordered(), state: .answered, value: 1), for: person))
            try await questionnaire.reply(
                to: Asked(ReopenSession(questionnaire: "yoked-compat", sessionId: session), for: person))
            try await questionnaire.reply(
                to: Asked(CompleteSession(questionnaire: "yoked-compat", sessionId: session), for: person))
            let heard = try await amendments.both.get()
            #expect(heard.map(\.personSequence) == [3, 4])
            #expect(heard.allSatisfy { $0.personID == person && $0.sessionID == session && $0.version == 3 })
            let stored = try await questionnaire.stage.rows(
                "SELECT scores->'values'->>'score' FROM snapshots ORDER BY number DESC LIMIT 1")
            #expect(heard[1].scores["values"]?["score"]?.doubleValue == Double(stored))
            #expect(heard[1].completedAt > heard[0].completedAt && heard[0].amendedAt > heard[0].completedAt)
        }
    }
}
