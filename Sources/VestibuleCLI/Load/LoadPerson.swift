import EventLoop
import Foundation
import VestibuleClient

/// A person with an app that uses the Swift client, and with a connection of their own.
@Loop final class LoadPerson {
    private let wire: LoadWire
    private let client: Vestibule
    /// Drawn once: drawing one takes as long as many calls.
    static let photo = DemoPhoto.jpeg()
    /// How long the services may take to learn of each other's work.
    private static let patience = Duration.seconds(30)

    init(_ wire: LoadWire) {
        self.wire = wire
        // Send each call only once. A repetition would hide a failed call.
        client = Vestibule(
            URL(string: "http://localhost")!, store: MemoryStore(), transport: wire, retries: .once)
    }

    /// Numbers of people who have no account yet. They spread over a hundred prefixes, as in a country.
    static func phone(_ number: Int) -> String {
        let digits = String(10_000_000 + (first + number * 100_003) % 10_000_000)
        return "+4670\(digits.dropFirst())"
    }
    private static let first = Int.random(in: 0..<10_000_000)

    /// Signs in by a code from the spool.
    func signIn(_ phone: String, _ codes: SpoolTail) async throws {
        let code = codes.code(for: phone, within: LoadWire.patience)
        let sent = try await client.sendOTP(.init(phone: phone))
        let device = DeviceClaim(name: "load", platform: .web)
        _ = try await client.verifyOTP(
            VerifyOTPRequest(challengeId: sent.challengeId, code: try await code.get(), device: device))
    }

    /// Goes through the plan of the default app, to the end of the onboarding.
    func onboard() async throws {
        _ = try await client.viewOnboarding()
        try await fillProfile()
        try await answerAll()
        try await choosePictures()
        try await verify()
        try await wait(for: "onboarding_incomplete") {
            try await self.client.viewOnboarding().onboardingStatus == .complete
        }
    }

    /// Saves each required field by itself, like an app that shows one field at a time.
    func fillProfile() async throws {
        let catalogue = try await client.getProfileFields()
        for field in catalogue.fields where field.required {
            _ = try await client.updateMe([field.key: try DemoAnswer.value(for: field)])
        }
    }

    /// Signs in, fills the profile and opens the questionnaire.
    func becomeMember(_ phone: String, _ codes: SpoolTail) async throws -> LoadMember {
        try await signIn(phone, codes)
        try await fillProfile()
        let opened = try await client.getQuestions()
        let choice = opened.questions.first { $0.type.rawValue == "single_choice" && $0.options?.count ?? 0 > 1 }
        guard let choice, let options = choice.options else { throw LoadRefusal(code: "no_question_to_answer") }
        return LoadMember(
            token: try await client.accessToken(), questionnaire: opened.questionnaire.key, session: opened.sessionId,
            question: choice.key, options: options.filter { !$0.exclusive }.map(\.key))
    }

    private func answerAll() async throws {
        let questions = try await client.getQuestions().questions
        for question in questions {
            let answer = ResponseItem(question: question.key, value: try DemoAnswer.value(for: question))
            _ = try await client.submitResponses(.init(answers: [answer]))
        }
        _ = try await client.submitResponses(.init(answers: [], complete: true))
    }

    private func choosePictures() async throws {
        var session = try await client.getVisualSession()
        while !session.comparisons.isEmpty {
            let choices = session.comparisons.map(DemoTaste.choice)
            session = try await client.saveVisualChoices(.init(sessionId: session.sessionId, choices: choices)).session
        }
    }

    private func verify() async throws {
        let consent = BiometricConsent(biometric: true, textVersion: "load", at: Date())
        guard let session = try await client.beginVerification(.init(consent: consent)).sessionId else {
            throw LoadRefusal(code: "no_verification")
        }
        let capture = try await client.addCapture(
            session: session, .init(contentType: .imageJpeg, length: Self.photo.count))
        try await wire.upload(Self.photo, to: capture.uploadUrl)
        _ = try await client.completeVerification(session: session)
        try await wait(for: "not_verified") {
            try await self.client.getVerification(session: session).status == .verified
        }
    }

    /// Asks until something holds, ten times a second.
    private func wait(for code: String, until holds: @Loop () async throws -> Bool) async throws {
        let end = MonotonicClock.now() + Self.patience.nanoseconds
        while try await !holds() {
            guard MonotonicClock.now() < end else { throw LoadRefusal(code: code) }
            try await Loop.sleep(for: .milliseconds(100))
        }
    }
}

/// A person who signed in before the load, with the requests that they send again and again.
struct LoadMember: Sendable {
    /// `GET /users/me`
    let read: [UInt8]
    private let headers: [String: String]
    private let path: String
    private let options: [String]

    init(token: String, questionnaire: String, session: UUID, question: String, options: [String]) {
        headers = ["Authorization": "Bearer \(token)", "Content-Type": "application/json"]
        path = "/questionnaires/\(questionnaire)/sessions/\(session.uuidString.lowercased())/answers/\(question)"
        self.options = options
        read = LoadCall.bytes("GET", "/users/me", headers: ["Authorization": "Bearer \(token)"])
    }

    /// The request that saves an answer. The answer changes with each turn.
    func autosave(_ turn: Int) -> [UInt8] {
        let (mutation, value) = (UUID().uuidString.lowercased(), options[turn % options.count])
        let body = #"{"mutationId":"\#(mutation)","state":"answered","value":"\#(value)"}"#
        return LoadCall.bytes("PUT", path, headers: headers, body: Array(body.utf8))
    }
}
