import Foundation
import TestSupport
import Testing
import VestibuleClient

@testable import VestibuleCLI

/// The Swift client on a whole system, by its typed calls alone.
@Suite("Swift client on a running system") struct SwiftClientTests {
    private let system: RunningSystem
    private let anonymous: APIClient

    init() throws {
        system = try RunningSystem(scale: "auth=1")
        anonymous = APIClient(try #require(URL(string: "http://\(system.address)")))
    }

    @Test(.bounded) func onePersonGoesThroughEverything() async throws {
        defer { system.stop() }
        let phone = Self.newPhone()
        let first = try await signIn(phone)
        var client = anonymous
        client.accessToken = first.accessToken
        try await fillInTheProfile(client)
        try await answerTheQuestionnaire(client)
        try await chooseBetweenPictures(client)
        client.accessToken = try await refreshInParallel(first)
        try await disputeARecovery(of: phone, client)
        try await delete(client)
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

    private func signIn(_ phone: String) async throws -> VestibuleClient.Session {
        #expect(
            await code { () throws(VestibuleError) in try await anonymous.sendOTP(.init(phone: "12")) } == .invalidPhone
        )
        let sent = try await anonymous.sendOTP(.init(phone: phone))
        var claim = VerifyOTPRequest(
            challengeId: sent.challengeId, code: "", device: DeviceClaim(name: "First phone", platform: .ios))
        let right = try received(phone)
        claim.code = right == "123456" ? "654321" : "123456"
        let wrong = await #expect(throws: VestibuleError.self) { try await anonymous.verifyOTP(claim) }
        guard case .problem(let problem) = wrong else { throw CommandError("a wrong code was not refused") }
        #expect(problem.code == .otpInvalid && problem.attemptsRemaining == 2)
        claim.code = right
        let session = try await anonymous.verifyOTP(claim)
        #expect(session.isNewUser && session.deviceSecret != nil)
        return session
    }

    private func fillInTheProfile(_ client: APIClient) async throws {
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

    private func answerTheQuestionnaire(_ client: APIClient) async throws {
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
        #expect(try await client.viewOnboarding().onboardingStatus == .vpsPending)
    }

    private func chooseBetweenPictures(_ client: APIClient) async throws {
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
        let onboarding = try await client.viewOnboarding()
        #expect(onboarding.onboardingStatus == .verificationPending && onboarding.next?.kind == .verification)
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

    /// Five at once with one refresh token, as five windows of an app.
    ///
    /// - Returns: an access token of the session.
    private func refreshInParallel(_ session: VestibuleClient.Session) async throws -> String {
        let refreshed = try await withThrowingTaskGroup(of: VestibuleClient.Session.self) { group in
            for _ in 0..<5 {
                group.addTask { [anonymous] in
                    try await anonymous.refreshToken(
                        RefreshTokenRequest(refreshToken: session.refreshToken, deviceSecret: session.deviceSecret))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(refreshed.count == 5 && Set(refreshed.map(\.sessionId)) == [session.sessionId])
        let last = try #require(refreshed.last)
        return try await anonymous.refreshToken(RefreshTokenRequest(refreshToken: last.refreshToken)).accessToken
    }

    private func disputeARecovery(of phone: String, _ owner: APIClient) async throws {
        let own = Self.newPhone()
        let sent = try await anonymous.sendOTP(.init(phone: own, accountPhone: phone, purpose: .recovery))
        let requested = try await anonymous.requestRecovery(
            RequestRecoveryRequest(
                challengeId: sent.challengeId, code: try received(own),
                device: DeviceClaim(name: "Second phone", platform: .android), accountPhone: phone))
        let (id, token) = (requested.recoveryId, requested.recoveryToken)
        let held = try await anonymous.getRecoveryCase(recovery: id, token: token)
        #expect(held.status == .held && held.holdUntil > Date())
        #expect(try await owner.listOwnCases().cases.map(\.recoveryId) == [id])
        #expect(try await owner.disputeRecovery(recovery: id).status == .disputed)
        #expect(
            await code { () throws(VestibuleError) in
                try await owner.getRecoveryCase(recovery: id, token: "x")
            } == .unauthorized)
    }

    private func delete(_ client: APIClient) async throws {
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
    }
}
