import Foundation
import VestibuleClient

/// Takes one person through a plan to its end. Like an app, it knows nothing of the plan but the server's replies.
///
/// The app of the plan has the plan's key.
final class PlanDemo {
    private let api: DemoClient
    private let spool: String
    private let plan: String
    private let issuer: DemoIssuer?

    /// - Parameter issuer: takes the place of Google; `nil` if the system trusts no such issuer.
    init(
        client: HTTPClient, spool: String, plan: String, uploads: HTTPClient? = nil, issuer: DemoIssuer? = nil
    ) throws {
        api = try DemoClient(client: client, uploads: uploads)
        (self.spool, self.plan, self.issuer) = (spool, plan, issuer)
    }

    private var client: Vestibule { api.person }

    func run() async throws {
        try await signIn()
        var done: [String] = []
        while let step = try await current(after: done.last) {
            try api.check(!done.contains(step.key), "the step \(step.key) is done once")
            done.append(step.key)
            say("Step \(step.key)")
            switch step.kind {
            case .fields?: try await fill()
            case .questionnaire?: try await answer(step.questionnaire ?? "")
            case .visualPreferences?: try await api.choosePictures()
            case .verification?: try await api.verify()
            case let kind: throw CommandError("the demo cannot do steps of kind \(kind?.rawValue ?? "nothing")")
            }
        }
        try await verifyIfOptional()
        say("\n\(api.steps) steps. The onboarding of \(plan) is complete.")
    }

    /// Does a verification that the plan only offers.
    private func verifyIfOptional() async throws {
        func state() async throws -> StepState? {
            try await client.viewOnboarding().steps.first { $0.kind == .verification }?.state
        }
        guard try await state() == .pending else { return }
        say("Step verification")
        try await api.verify()
        let end = try await api.wait(seconds: 45, until: { $0 == .done }) { try await state() }
        try api.check(end == .done, "the person is verified")
    }

    // MARK: Sign-in

    /// Signs in to the plan's app by the first way that the development system supports.
    ///
    /// - Returns: an access token.
    @discardableResult func signIn() async throws -> String {
        say("Sign-in to \(plan)")
        let methods = try await api.step("the ways to sign in") { try await client.getAuthMethods(app: plan) }
        let keys = methods.methods.map(\.key)
        if keys.contains(.phone) {
            try await signInByPhone()
        } else if keys.contains(.email) {
            try await signInByEmail()
        } else if keys.contains(.google), let issuer {
            try await signIn(by: issuer)
        } else {
            throw CommandError(
                """
                \(plan) has no way to sign in by a code, and this system trusts no token of the demo's. Stop the system and \
                repeat the command: the demo starts one that does.
                """)
        }
        return try await client.accessToken()
    }

    private let device = DeviceClaim(name: "Demo", platform: .web)

    private func signInByPhone() async throws {
        let phone = "+4670\(Int.random(in: 1_000_000...9_999_999))"
        let sent = try await api.step("a code is sent", expect: 202) { try await client.sendOTP(.init(phone: phone)) }
        let code = try await code(in: "sms", to: phone)
        try await api.step("the code signs in") {
            try await client.verifyOTP(
                VerifyOTPRequest(challengeId: sent.challengeId, code: code, device: device, app: plan))
        }
    }

    private func signInByEmail() async throws {
        let email = "demo-\(UUID().uuidString.lowercased())@example.com"
        let sent = try await api.step("a code is sent", expect: 202) {
            try await client.sendEmailCode(.init(email: email))
        }
        let code = try await code(in: "email", to: email)
        try await api.step("the code signs in") {
            try await client.verifyEmailCode(
                VerifyEmailCodeRequest(challengeId: sent.challengeId, code: code, device: device, app: plan))
        }
    }

    private func signIn(by issuer: DemoIssuer) async throws {
        let nonce = try await api.step("a nonce is issued") {
            try await client.issueSocialNonce(.init(provider: .google)).nonce
        }
        try await api.step("Google's token signs in") {
            try await client.signInWithGoogle(
                SignInWithGoogleRequest(
                    identityToken: issuer.token(nonce: nonce), nonce: nonce, device: device, app: plan))
        }
    }

    /// The code in a message to an address.
    private func code(in spooled: String, to address: String) async throws -> String {
        let line = try await Spool(file: "\(spool)/\(spooled).jsonl").line(for: "the code") {
            $0["to"]?.stringValue == address
        }
        let text = line["body"]?.stringValue ?? ""
        guard let code = text.firstMatch(of: /[0-9]{6}/) else { throw CommandError("the message has no code") }
        return String(code.output)
    }

    // MARK: Steps

    /// The step to continue at; `nil` if the onboarding is complete.
    ///
    /// - Parameter last: the step that was done just now. Profile learns of a completed questionnaire by an event, which
    ///   may be late.
    private func current(after last: String?) async throws -> OnboardingStep? {
        if let last {
            _ = try await api.wait(seconds: 45, until: { $0.next?.step != last }) { try await client.viewOnboarding() }
        }
        let view = try await api.step("the onboarding") { try await client.viewOnboarding() }
        try api.check(view.plan?.key == plan, "the person follows the plan of the app")
        guard let next = view.next else {
            try api.check(view.onboardingStatus == .complete, "nothing is left")
            return nil
        }
        return view.steps.first { $0.key == next.step }
    }

    private func fill() async throws {
        let catalogue = try await api.step("the fields") { try await client.getProfileFields() }
        let required = catalogue.fields.filter(\.required)
        let values = try Dictionary(uniqueKeysWithValues: required.map { ($0.key, try DemoAnswer.value(for: $0)) })
        try await api.step("the required fields are saved") { try await client.updateMe(values) }
    }

    private func answer(_ questionnaire: String) async throws {
        let session = try await client.openSession(questionnaire: questionnaire).id
        let queue = await client.answers(questionnaire: questionnaire, session: session)
        while true {
            let view = try await api.step("the screens") {
                try await client.getSessionScreens(questionnaire: questionnaire, session: session).value
            }
            guard let next = view.next else { break }
            let screen = view.screens.first { screen in
                screen.questions.last?.key == next.question && screen.questions.last?.subject == next.subject
            }
            guard let screen, let question = screen.questions.last else {
                throw CommandError("the view has no screen for the next question")
            }
            if screen.adds != nil, next.reason == .subjectWanted {
                try await api.step("a subject is added") {
                    try await client.putSubject(
                        questionnaire: questionnaire, session: session, subject: UUID(), .init(label: "Kim"))
                }
            } else {
                try await save(question, seen: view.answers, in: queue)
            }
        }
        try await api.step("it is completed") {
            try await client.completeSession(questionnaire: questionnaire, session: session)
        }
    }

    private func save(_ question: ScreenQuestion, seen answers: [AnswerView], in queue: AnswerQueue) async throws {
        let place = AnswerPlace(question.key, subject: question.subject)
        let seen = answers.first { $0.question == place.question && $0.subject == place.subject }?.revision ?? 0
        var (state, value): (QueuedAnswerState, JSONValue?) = (.answered, nil)
        if let upload = question.upload {
            value = .string(try await api.uploadPhoto(kind: upload.kind).uuidString.lowercased())
        } else if !question.required, question.skippable {
            state = .skipped
        } else {
            value = try DemoAnswer.value(for: question)
        }
        try await queue.add(place, state, value: value, seen: seen)
        try await api.step(question.key) { try await queue.send() }
        let left = try await queue.content()
        try api.check(left.refused.isEmpty && left.conflicts.isEmpty, "the answer to \(question.key) is taken")
    }
}
