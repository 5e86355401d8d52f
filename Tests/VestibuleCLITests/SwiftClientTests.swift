import Foundation
import Synchronization
import TestSupport
import Testing
import VestibuleClient

@testable import VestibuleCLI

/// The Swift client on a whole system, by its typed calls alone.
@Suite("Swift client on a running system") struct SwiftClientTests {
    private let system: RunningSystem
    private let address: URL

    init() throws {
        system = try RunningSystem(scale: "auth=1")
        address = try #require(URL(string: "http://\(system.address)"))
    }

    @Test(.bounded) func onePersonGoesFromSignInToDeletionWithTheClient() async throws {
        defer { system.stop() }
        let (client, phone) = (Vestibule(address, store: MemoryStore()), Self.newPhone())
        let session = try await signIn(phone, client)
        #expect(session.isNewUser && session.deviceSecret != nil)
        #expect(try await client.state() == .signedIn(person: session.user.id))
        try await fillInTheProfile(client)
        try await answerTheQuestionnaire(client)
        try await chooseBetweenPictures(client)
        try await disputeARecovery(of: phone, client)
        try await delete(client)
    }

    @Test(.bounded) func anAppThatIsKilledBetweenRenewalAndSaveStaysSignedIn() async throws {
        defer { system.stop() }
        let (store, wire) = (KillableStore(), CuttingWire(try HTTPClient(system.address)))
        func start() -> Vestibule { Vestibule(address, store: store, transport: wire, retries: .once) }
        let first = start()
        let session = try await signIn(Self.newPhone(), first)

        // Five windows at once.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { try await first.renew() } }
            try await group.waitForAll()
        }
        #expect(wire.count(of: "/auth/token/refresh") == 1)

        // The server renews the tokens, and the app is killed before it has saved them. It starts again an hour later.
        store.kill()
        await #expect(throws: VestibuleError.self) { try await first.renew() }
        #expect(wire.count(of: "/auth/token/refresh") == 2)
        try system.sql("UPDATE auth.refresh_tokens SET replaced_at = replaced_at - interval '1 hour'")
        store.start()
        let second = start()
        try await second.renew()
        #expect(try await second.getMe().id == session.user.id)

        // The same where the answer is lost on the way.
        wire.cut(.answer)
        await #expect(throws: VestibuleError.self) { try await second.renew() }
        wire.cut(nil)
        try system.sql("UPDATE auth.refresh_tokens SET replaced_at = replaced_at - interval '1 hour'")
        let third = start()
        try await third.renew()
        #expect(try await third.getMe().id == session.user.id)

        // A thief who has only an old token ends the session, and the app is told.
        let thief = APIClient(address, transport: wire)
        let stolen = RefreshTokenRequest(refreshToken: session.refreshToken)
        #expect(
            await code { () throws(VestibuleError) in try await thief.refreshToken(stolen) } == .refreshTokenReused)
        var states = await third.stateChanges().makeAsyncIterator()
        #expect(await states.next() == .signedIn(person: session.user.id))
        await #expect(throws: VestibuleError.self) { try await third.renew() }
        #expect(await states.next() == .signedOut(because: .refreshTokenInvalid))
        // The next sign-in is that of the same device.
        #expect(try await signIn(Self.newPhone(), third).deviceSecret != nil)
    }

    @Test(.bounded) func answersAreNeitherLostNorDoubledByCutConnections() async throws {
        defer { system.stop() }
        let (store, wire) = (KillableStore(), CuttingWire(try HTTPClient(system.address)))
        func start() -> Vestibule { Vestibule(address, store: store, transport: wire, retries: .once) }
        var app = start()
        _ = try await signIn(Self.newPhone(), app)
        let session = try await app.openSession(questionnaire: "yoked-compat").id
        let questions = try await app.getSessionScreens(questionnaire: "yoked-compat", session: session).screens
            .compactMap(\.questions.last).filter { $0.type == .singleChoice && ($0.options ?? []).count > 1 }
        try #require(questions.count > 3)
        var written: [String: Int] = [:]
        var last: [String: VestibuleClient.JSONValue] = [:]
        while wire.cuts < Rounds.count(40, prove: 200) {
            let queue = await app.answers(questionnaire: "yoked-compat", session: session)
            for question in questions.shuffled().prefix(Int.random(in: 1...4)) {
                // Each write differs from the one before it, so that each counts.
                let options = question.options ?? []
                let value = VestibuleClient.JSONValue.string(options[written[question.key, default: 0] % 2].key)
                try await queue.add(AnswerPlace(question.key), value: value, seen: 0)
                written[question.key, default: 0] += 1
                last[question.key] = value
            }
            let cuts: [CuttingWire.Cut?] = [.request, .answer, nil]
            wire.cut(cuts[Int.random(in: 0..<3)])
            do throws(VestibuleError) {
                try await queue.send()
            } catch {
                guard case .noAnswer = error else { throw error }
            }
            wire.cut(nil)
            // The app is killed.
            if Bool.random() { app = start() }
        }
        let queue = await start().answers(questionnaire: "yoked-compat", session: session)
        try await queue.send()
        let left = try await queue.content()
        #expect(left.waiting.isEmpty && left.conflicts.isEmpty && left.refused.isEmpty)
        let stored = try await app.getSession(questionnaire: "yoked-compat", session: session).answers
        #expect(Dictionary(uniqueKeysWithValues: stored.map { ($0.question, $0.value) }) == last)
        #expect(Dictionary(uniqueKeysWithValues: stored.map { ($0.question, $0.revision) }) == written)

        try await twoDevicesAnswerTheSame(try #require(questions.first), of: session, queue, app, stored)
    }

    /// The choice between the answers of two devices, first one way and then the other.
    private func twoDevicesAnswerTheSame(
        _ question: ScreenQuestion, of session: UUID, _ queue: AnswerQueue, _ other: Vestibule, _ stored: [AnswerView]
    ) async throws {
        let place = AnswerPlace(question.key)
        var values = (question.options ?? []).map { VestibuleClient.JSONValue.string($0.key) }
        var revision = try #require(stored.first { $0.question == question.key }).revision
        for keepsMine in [true, false] {
            // The other device writes the newest revision, and this device has seen only an older one.
            values.reverse()
            revision = try await other.putAnswer(
                questionnaire: "yoked-compat", session: session, question: question.key,
                PutAnswerRequest(
                    mutationId: UUID(), state: .answered, baseRevision: revision, device: "Tablet", value: values[0])
            ).revision
            try await queue.add(place, value: values[1], seen: 0)
            try await queue.send()
            var content = try await queue.content()
            let conflict = try #require(content.conflicts.first)
            #expect(conflict.mine.value == values[1] && conflict.theirs.value == values[0])
            #expect(conflict.theirs.device == "Tablet" && conflict.theirs.revision == revision)
            try await keepsMine ? queue.keepMine(conflict) : queue.keepTheirs(conflict)
            try await queue.send()
            content = try await queue.content()
            #expect(content.conflicts.isEmpty && content.waiting.isEmpty)
            let answers = try await other.getSession(questionnaire: "yoked-compat", session: session).answers
            let answer = try #require(answers.first { $0.question == question.key })
            #expect(answer.value == values[keepsMine ? 1 : 0])
            revision = answer.revision
        }
    }

    private static func newPhone() -> String { "+4670\(Int.random(in: 1_000_000...9_999_999))" }

    /// Carries out what must be refused.
    private func code<Value>(_ body: () async throws(VestibuleError) -> Value) async -> ProblemCode? {
        do throws(VestibuleError) {
            _ = try await body()
            return nil
        } catch {
            return error.code
        }
    }

    private func received(_ phone: String) throws -> String {
        let sms = try Spool(file: "\(system.installation.state.spool)/sms.jsonl").wait(for: "the SMS") {
            $0["to"]?.stringValue == phone
        }
        return String(try #require(sms["body"]?.stringValue).prefix(6))
    }

    private func signIn(_ phone: String, _ client: Vestibule) async throws -> VestibuleClient.Session {
        #expect(
            await code { () throws(VestibuleError) in try await client.sendOTP(.init(phone: "12")) } == .invalidPhone
        )
        let sent = try await client.sendOTP(.init(phone: phone))
        #expect(CodeTimer(sent).secondsToResend() > 0)
        var claim = VerifyOTPRequest(
            challengeId: sent.challengeId, code: "", device: DeviceClaim(name: "First phone", platform: .ios))
        let right = try received(phone)
        claim.code = right == "123456" ? "654321" : "123456"
        let wrong = await #expect(throws: VestibuleError.self) { try await client.verifyOTP(claim) }
        guard case .problem(let problem) = wrong else { throw CommandError("a wrong code was not refused") }
        #expect(problem.code == .otpInvalid && problem.attemptsRemaining == 2)
        claim.code = right
        return try await client.verifyOTP(claim)
    }

    private func fillInTheProfile(_ client: Vestibule) async throws {
        let fields = try await client.getProfileFields()
        #expect(fields.fields.contains { $0.key == "gender" && $0.type == .singleChoice })
        let again = await #expect(throws: VestibuleError.self) {
            try await client.getProfileFields(ifNoneMatch: fields.eTag)
        }
        guard case .notModified = again else { throw CommandError("the fields were sent again") }
        let before = try await client.getMe()
        let refused = await #expect(throws: VestibuleError.self) {
            try await client.updateMe(["displayName": "x", "gender": "unknown"])
        }
        guard case .problem(let problem) = refused else { throw CommandError("a wrong value was not refused") }
        #expect(
            problem.code == .validationFailed && Set(problem.errors?.map(\.field) ?? []) == ["displayName", "gender"])
        let me = try await client.updateMe(
            ifMatch: before.eTag,
            [
                "displayName": "Åsa", "dateOfBirth": "1990-02-28", "gender": "female", "lookingFor": ["everyone"],
                "city": "Malmö",
            ])
        #expect(me.profile["displayName"] == "Åsa" && me.onboardingStatus == .questionnairePending)
        let late = await code { () throws(VestibuleError) in
            try await client.updateMe(ifMatch: before.eTag, ["city": "Lund"])
        }
        #expect(late == .preconditionFailed)
        let completion = try await client.skipField(SkipFieldRequest(field: "bio"))
        #expect(completion.skippedFields == ["bio"] && completion.missingRequired == [])
    }

    private func answerTheQuestionnaire(_ client: Vestibule) async throws {
        let onboarding = try await client.viewOnboarding()
        let step = try #require(onboarding.next)
        #expect(step.kind == .questionnaire)
        let key = try #require(step.questionnaire)
        #expect(try await client.getQuestions().next?.question != nil)
        let session = try await client.openSession(questionnaire: key)
        let first = try await client.getSessionScreens(questionnaire: key, session: session.id)
        let asked = first.screens.compactMap(\.questions.last).filter { $0.required && $0.type != .info }
        for question in asked.prefix(2) {
            let saved = try await client.putAnswer(
                questionnaire: key, session: session.id, question: question.key,
                PutAnswerRequest(mutationId: UUID(), state: .answered, value: try value(for: question)))
            #expect(saved.progress.answered > 0)
        }
        let early = await code { () throws(VestibuleError) in
            try await client.completeSession(questionnaire: key, session: session.id)
        }
        #expect(early == .questionnaireIncomplete)
        let queued = try asked.dropFirst(2).map {
            QueuedAnswer(question: $0.key, mutationId: UUID(), state: .answered, value: try value(for: $0))
        }
        let wrong = QueuedAnswer(
            question: asked[0].key, mutationId: UUID(), state: .answered, value: "nothing of this kind")
        let saved = try await client.putAnswers(
            questionnaire: key, session: session.id, .init(answers: queued + [wrong]))
        #expect(saved.results.count == queued.count + 1 && saved.results.dropLast().allSatisfy { $0.error == nil })
        let error = try #require(saved.results.last?.error)
        #expect(error.code == .validationFailed && error.errors?.map(\.pointer) == ["/answers/\(queued.count)/value"])
        let done = try await client.completeSession(questionnaire: key, session: session.id)
        #expect(done.status == .completed)
        // Another service keeps the onboarding, and hears of it by an event.
        #expect(try await eventually { try await client.viewOnboarding().onboardingStatus == .vpsPending })
    }

    private func chooseBetweenPictures(_ client: Vestibule) async throws {
        let session = try await client.getVisualSession()
        let choices = session.comparisons.map {
            VestibuleClient.VisualChoice(
                presentationId: $0.presentationId, choice: .left, latencyMs: 900, mutationId: UUID())
        }
        let saved = try await client.saveVisualChoices(.init(sessionId: session.sessionId, choices: choices))
        #expect(saved.results.count == 5 && saved.results.allSatisfy(\.saved) && saved.session.comparisons.count == 5)
        let deferred = try await client.saveVisualChoices(.init(sessionId: session.sessionId, defer: true))
        #expect(deferred.session.status == .deferred)
        #expect(try await client.getVisualProfile().status == .deferred)
        #expect(try await eventually { try await client.viewOnboarding().onboardingStatus == .verificationPending })
        let onboarding = try await client.viewOnboarding()
        #expect(onboarding.next?.kind == .verification)
        #expect(onboarding.steps.contains { $0.kind == .visualPreferences && $0.askAgainAt != nil })
    }

    private func value(for question: ScreenQuestion) throws -> VestibuleClient.JSONValue {
        let options = (question.options ?? []).filter { !$0.exclusive }.map { VestibuleClient.JSONValue.string($0.key) }
        switch question.type {
        case .singleChoice: return try #require(options.first)
        case .multiChoice, .tags: return .array(Array(options.prefix(max(1, question.constraints.minSelections ?? 1))))
        case .ranking: return .array(Array(options.prefix(question.constraints.topK ?? options.count)))
        case .slider: return .number(question.constraints.min ?? 0)
        case .boolean: return true
        case .date: return "1990-06-15"
        case .text: return "Kim"
        default: throw CommandError("no answer for a question of type \(question.type.rawValue)")
        }
    }

    private func disputeARecovery(of phone: String, _ owner: Vestibule) async throws {
        let (own, claimant) = (Self.newPhone(), Vestibule(address, store: MemoryStore()))
        let sent = try await claimant.sendOTP(.init(phone: own, accountPhone: phone, purpose: .recovery))
        let requested = try await claimant.requestRecovery(
            RequestRecoveryRequest(
                challengeId: sent.challengeId, code: try received(own),
                device: DeviceClaim(name: "Second phone", platform: .android), accountPhone: phone))
        let (id, token) = (requested.recoveryId, requested.recoveryToken)
        let held = try await claimant.getRecoveryCase(recovery: id, token: token)
        #expect(held.status == .held && held.holdUntil > Date())
        #expect(try await owner.listOwnCases().cases.map(\.recoveryId) == [id])
        #expect(try await owner.disputeRecovery(recovery: id).status == .disputed)
        #expect(
            await code { () throws(VestibuleError) in
                try await owner.getRecoveryCase(recovery: id, token: "x")
            } == .unauthorized)
    }

    private func delete(_ client: Vestibule) async throws {
        #expect(try await client.exportAccount().profile.isEmpty == false)
        #expect(try await client.deleteAccount().status == .deleting)
        let end = Date().addingTimeInterval(15)
        var refusal: ProblemCode?
        while refusal == nil, Date() < end {
            refusal = await code { () throws(VestibuleError) in try await client.getMe() }
            usleep(20_000)
        }
        // The latter until the gateway has heard of the end of the session.
        #expect(refusal == .tokenRevoked || refusal == .unauthorized)
        #expect(try await client.state() == .signedOut(because: refusal))
    }
}

/// Keeps items as a file does, until the app is killed: then it takes no more.
private final class KillableStore: ClientStore {
    private struct Killed: Error {}

    private let items = MemoryStore()
    private let isKilled = Mutex(false)

    func kill() { isKilled.withLock { $0 = true } }
    func start() { isKilled.withLock { $0 = false } }
    func read(_ name: String) throws -> Data? { items.read(name) }
    func write(_ item: Data?, as name: String) throws {
        if isKilled.withLock({ $0 }) { throw Killed() }
        items.write(item, as: name)
    }
}

/// A network that loses a request before the server has it, or the answer after the server did its work.
private final class CuttingWire: Transport {
    enum Cut { case request, answer }

    private struct State {
        var cut: Cut?
        var cuts = 0
        var paths: [String] = []
    }

    private let inner: DemoWire
    private let state = Mutex(State())

    init(_ server: HTTPClient) { inner = DemoWire(server) }

    /// How many requests were cut so far.
    var cuts: Int { state.withLock { $0.cuts } }
    func cut(_ cut: Cut?) { state.withLock { $0.cut = cut } }
    func count(of path: String) -> Int { state.withLock { state in state.paths.count { $0 == path } } }

    func answer(to request: TransportRequest) async throws -> TransportAnswer {
        let cut = state.withLock { state in
            state.paths.append(request.url.path)
            if state.cut != nil { state.cuts += 1 }
            return state.cut
        }
        if cut == .request { throw URLError(.networkConnectionLost) }
        let answer = try await inner.answer(to: request)
        if cut == .answer { throw URLError(.networkConnectionLost) }
        return answer
    }
}
