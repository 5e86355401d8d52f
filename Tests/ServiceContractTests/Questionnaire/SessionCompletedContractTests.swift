import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import Testing

extension SessionCompleted: MessageContract {
    private static let person = Identifier("5f0c1f3e-6a52-4a7e-9d5b-0c9a3f2b1d10")!
    private static let session = Identifier("019c2f00-0000-7000-8000-000000000001")!

    static let canonical = SessionCompleted(
        personID: person, personSequence: 3, sessionID: session, questionnaire: "yoked-compat", version: 1,
        completedAt: Timestamp("2026-02-20T09:00:00Z")!)
    static let minimal = SessionCompleted(
        personID: person, sessionID: session, questionnaire: "a", version: 1,
        completedAt: Timestamp("1970-01-01T00:00:00Z")!)
    static let maximal = SessionCompleted(
        personID: person, personSequence: 9_007_199_254_740_991, sessionID: session,
        questionnaire: String(repeating: "a", count: 64), version: 2_147_483_647,
        completedAt: Timestamp("9999-12-31T23:59:59.999999Z")!)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<SessionCompleted> {
        let person = try await profile.person()
        return Asked(
            SessionCompleted(
                personID: person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat", version: 1,
                completedAt: .now()), as: .questionnaire)
    }

    static let provocations: [String: Provocation<ProfileProvider, SessionCompleted>] = [:]
}

@Suite("questionnaire.session-completed") @Loop struct SessionCompletedContractTests {
    /// Records the events that profile receives, and refuses the first attempts.
    @Loop private final class Profile: RequestHandler {
        var refusals: Int
        private(set) var bodies: [[UInt8]] = []
        let taken = LoopPromise<SessionCompleted>()

        init(refusals: Int) { self.refusals = refusals }

        func handle(_ request: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
            bodies.append(context.body)
            refusals -= 1
            guard refusals < 0 else { throw BusError(.serviceUnavailable, "Not now.") }
            taken.resolve(.success(request))
            return Acknowledged()
        }
    }

    @Test func completionIsDeliveredUnchangedUntilProfileTakesIt() async throws {
        let profile = Profile(refusals: 2)
        try await QuestionnaireProvider.run(toldTo: profile) { questionnaire in
            let person = Identifier.random()
            let reply = try await questionnaire.reply(
                to: Asked(SubmitResponses(answers: QuestionnaireProvider.required, complete: true), for: person))
            let event = try await profile.taken.get()
            #expect(event.personID == person && event.personSequence == 2)
            #expect(event.sessionID == reply.sessionId && event.questionnaire == "yoked-compat" && event.version == 3)
            #expect(profile.bodies.count == 3 && Set(profile.bodies).count == 1)
            #expect(SessionCompleted.schema.problems(in: try JSONDocument(profile.bodies[0]).root) == [])
        }
    }

    @Test func anOpenSessionIsNotPublishedAsCompleted() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let asked = try await SubmitResponses.provocations["questionnaire_incomplete"]?(questionnaire)
            await #expect(throws: BusError.self) { try await questionnaire.reply(to: #require(asked)) }
            #expect(try await questionnaire.stage.rows("SELECT last FROM outbox_sequences") == "1", "it was opened")
        }
    }
}
