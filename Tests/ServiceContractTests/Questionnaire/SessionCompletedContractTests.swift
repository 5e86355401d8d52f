import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import Testing

enum SessionCompletedContract: MessageContract {
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
}

@Suite("questionnaire.session-completed") @Loop struct SessionCompletedContractTests {
    /// Notes what profile is told, and refuses the first attempts.
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

    @Test func isToldAgainUntilProfileHasItAndSaysTheSameEachTime() async throws {
        try await QuestionnaireStage.run { stage in
            let profile = Profile(refusals: 2)
            try stage.stage.answering(as: .profile, profile)
            let reply = try await stage.ask(SubmitResponses(answers: QuestionnaireStage.required, complete: true))
            let event = try await profile.taken.get()
            #expect(event.personID == stage.person && event.personSequence == 1)
            #expect(event.sessionID == reply.sessionId && event.questionnaire == "yoked-compat" && event.version == 1)
            #expect(profile.bodies.count == 3 && Set(profile.bodies).count == 1)
            #expect(SessionCompleted.schema.problems(in: try JSONDocument(profile.bodies[0]).root) == [])
        }
    }

    @Test func isNotToldOfASessionThatIsStillOpen() async throws {
        try await QuestionnaireStage.run { stage in
            _ = try? await stage.ask(SubmitResponses(answers: [QuestionnaireStage.required[0]], complete: true))
            let told = try await stage.stage.rows("SELECT count(*) FROM outbox")
            #expect(told == "0")
        }
    }
}
