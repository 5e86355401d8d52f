import Foundation
import VestibuleClient

/// Takes one person through the public API, from a phone number to a recovery that the owner stops.
///
/// It makes each call with the Swift client, as an app does. It prints every step with its HTTP status and its time. It
/// ends at the first step that breaks the contract.
final class Demo {
    private let api: DemoClient
    private let sms: Spool
    private let push: Spool

    /// - Parameters:
    ///   - uploads: the server for pictures whose address is only a path; `nil` means the server of the API.
    ///   - afterStep: called after each successful step with its number.
    init(
        client: HTTPClient, spool: String, uploads: HTTPClient? = nil,
        afterStep: @escaping (Int) throws -> Void = { _ in }
    ) throws {
        api = try DemoClient(client: client, uploads: uploads, afterStep: afterStep)
        sms = Spool(file: "\(spool)/sms.jsonl")
        push = Spool(file: "\(spool)/push.jsonl")
    }

    private struct Person {
        let phone: String
        let pushToken: String
        let id: UUID
    }

    private var client: Vestibule { api.person }

    func run() async throws {
        let person = try await signUp()
        try await profile()
        try await questionnaire()
        say("Visual preferences")
        try await api.choosePictures()
        say("Verification")
        try await api.verify()
        try await onboarding()
        try await recovery(person)
        say("\n\(api.steps) steps, each as the contract says.")
    }

    private static func newPhone() -> String { "+4670\(Int.random(in: 1_000_000...9_999_999))" }

    // MARK: Phone

    private func signUp() async throws -> Person {
        say("Phone")
        let (phone, pushToken) = (Self.newPhone(), "demo-push-\(UUID().uuidString)")
        let (challenge, code) = try await prove(SendOTPRequest(phone: phone, purpose: .login), client)
        var claim = VerifyOTPRequest(
            challengeId: challenge, code: String(format: "%06d", ((Int(code) ?? 0) + 1) % 1_000_000),
            device: DeviceClaim(name: "First phone", platform: .ios, pushToken: pushToken))
        let refused = try await api.refusal("a wrong code is refused", expect: 422, .otpInvalid) {
            _ = try await client.verifyOTP(claim)
        }
        try api.check(refused.attemptsRemaining == 2, "two attempts remain")
        claim.code = code
        let session = try await api.step("the right code signs in") { try await client.verifyOTP(claim) }
        try api.check(session.isNewUser && session.deviceSecret != nil, "a new person on a new device")
        try await api.refusal("a code works once", expect: 410, .otpExpired) { _ = try await client.verifyOTP(claim) }
        try await api.step("the session is renewed") { try await client.renew() }
        return Person(phone: phone, pushToken: pushToken, id: session.user.id)
    }

    /// Asks for a code and reads it from the spool.
    private func prove(_ request: SendOTPRequest, _ client: Vestibule) async throws -> (challenge: UUID, code: String) {
        let purpose = request.purpose?.rawValue ?? ""
        let sent = try await api.step("a code is sent (\(purpose))", expect: 202) { try await client.sendOTP(request) }
        let phone = request.phone
        try api.check(sent.maskedPhone == "+46 (***) ***-\(phone.suffix(4))", "the number is masked")
        let line = try await sms.line(for: "the SMS") { $0["to"]?.stringValue == phone }
        let code = String((line["body"]?.stringValue ?? "").prefix { $0.isNumber })
        try api.check(code.count == sent.codeLength, "the SMS begins with six digits")
        return (sent.challengeId, code)
    }

    // MARK: Profile

    private func profile() async throws {
        say("Profile")
        let invalid = try await api.refusal("two invalid fields are both named", expect: 422, .validationFailed) {
            _ = try await client.updateMe(["displayName": "x", "gender": "unknown"])
        }
        try api.check(invalid.errors?.count == 2, "one entry for each problem")
        let young = Calendar(identifier: .gregorian).component(.year, from: Date()) - 18
        let me = try await api.step("the basics are saved") {
            try await client.updateMe([
                "displayName": "Åsa", "gender": "prefer_not_to_say", "lookingFor": ["everyone"], "city": "Malmö",
                "dateOfBirth": .string("\(young - 10)-02-28"),
            ])
        }
        try api.check(me.age ?? 0 >= 27 && me.ageGate == nil, "an adult passes the age gate")
        try await api.step("a mistyped date of birth is corrected") {
            try await client.updateMe(["dateOfBirth": .string("\(young - 11)-02-28")])
        }
        // Only staff can change it.
        try await api.refusal("a second correction is refused", expect: 409, .dateOfBirthLocked) {
            _ = try await client.updateMe(["dateOfBirth": .string("\(young - 12)-02-28")])
        }
        try await api.step("the bio is skipped") { try await client.skipField(.init(field: "bio")) }
        let completion = try await api.step("what is missing") { try await client.getCompletion() }
        try api.check(
            completion.missingRequired == [] && completion.skippedFields == ["bio"], "nothing required is missing")
        try await api.uploadPhoto()
    }

    // MARK: Questionnaire

    private func questionnaire() async throws {
        say("Questionnaire")
        let opened = try await api.step("it is opened") { try await client.getQuestions() }
        let questions = opened.questions
        try api.check(questions.count == 25 && questions.count { $0.required } == 10, "25 questions, 10 required")
        for question in questions.prefix(12) { try await answer(question) }
        // Every request has its own connection, so this one looks like that of a restarted app.
        let resumed = try await api.step("resumed after a disconnect") { try await client.getQuestions() }
        try api.check(resumed.sessionId == opened.sessionId, "the same session")
        try api.check(resumed.progress.answered == 12, "twelve answers were kept")
        try await api.refusal("it cannot be completed early", expect: 409, .questionnaireIncomplete) {
            _ = try await client.submitResponses(.init(answers: [], complete: true))
        }
        for question in questions.dropFirst(12) { try await answer(question) }
        let done = try await api.step("it is completed") {
            try await client.submitResponses(.init(answers: [], complete: true))
        }
        try api.check(done.status == .completed && done.progress.percentage == 100, "all questions are answered")
    }

    private func answer(_ question: QuestionView) async throws {
        let answer = ResponseItem(question: question.key, value: try DemoAnswer.value(for: question))
        try await api.step(question.key) { try await client.submitResponses(.init(answers: [answer])) }
    }

    private func onboarding() async throws {
        say("Onboarding")
        _ = try await api.wait(seconds: 45, until: { $0.matchingMode == .fullConfidence }) {
            try await client.viewOnboarding()
        }
        let view = try await api.step("the onboarding status") { try await client.viewOnboarding() }
        try api.check(view.onboardingStatus == .complete, "the onboarding is complete")
        try api.check(view.matchingMode == .fullConfidence, "the person is matched with full confidence")
    }

    // MARK: Recovery

    private func recovery(_ person: Person) async throws {
        say("Recovery")
        let claimant = try api.otherDevice()
        let proof = SendOTPRequest(phone: Self.newPhone(), accountPhone: person.phone, purpose: .recovery)
        let (challenge, code) = try await prove(proof, claimant)
        let requested = try await api.step("a claimant asks for the account", expect: 202) {
            try await claimant.requestRecovery(
                RequestRecoveryRequest(
                    challengeId: challenge, code: code, device: DeviceClaim(name: "Second phone", platform: .android),
                    accountPhone: person.phone))
        }
        let (id, token) = (requested.recoveryId, requested.recoveryToken)
        let held = try await api.step("the hold runs") {
            try await claimant.getRecoveryCase(recovery: id, token: token)
        }
        let remaining = held.remainingSeconds
        try api.check(held.status == .held && remaining > 0, "the case is held")
        let end = held.holdUntil.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        say("     the hold ends at \(end), in \(remaining / 3600) h \(remaining / 60 % 60) min")
        let note = try await push.line(for: "the push notification") {
            $0["pushToken"]?.stringValue == person.pushToken
                && $0["data"]?["recoveryId"]?.stringValue == id.uuidString.lowercased()
        }
        try api.check(
            note["userId"]?.stringValue == person.id.uuidString.lowercased() && note["data"]?["disputeToken"] != nil,
            "the owner's phone is notified")
        say("     the first phone reads: \(note["body"]?.stringValue ?? "")")
        let disputed = try await api.step("the owner disputes") { try await client.disputeRecovery(recovery: id) }
        try api.check(disputed.status == .disputed, "the case is over")
        let after = try await api.step("the claimant sees no change") {
            try await claimant.getRecoveryCase(recovery: id, token: token)
        }
        try api.check(after.status == .held, "the case looks as before")
        try await api.step("the owner's session still works") { try await client.getMe() }
        let former = try api.visitor(with: try await client.accessToken())
        try await api.step("the owner signs out", expect: 204) { try await client.logout() }
        // The token is refused within a second, but a busy machine may take longer.
        let works = try await api.wait(seconds: 15, until: { !$0 }) { await Self.works(former) }
        try api.check(!works, "the access token ends with the session")
        try await api.refusal("the access token is refused", expect: 401, .tokenRevoked) {
            _ = try await former.getMe()
        }
    }

    private static func works(_ client: APIClient) async -> Bool {
        do {
            _ = try await client.getMe()
            return true
        } catch {
            return error.code == nil
        }
    }
}
