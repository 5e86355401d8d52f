import BusProtocol
import Foundation
import JSONText

/// Takes one person through the public API, from a phone number to a recovery that the owner stops.
///
/// It prints every step with its HTTP status and its time. It ends at the first step that breaks the contract.
final class Demo {
    private let api: DemoClient
    private let sms: Spool
    private let push: Spool

    /// - Parameters:
    ///   - uploads: where pictures go whose address is a path only; `nil` sends them to the address of the API.
    ///   - afterStep: called after each successful step with its number.
    init(
        client: HTTPClient, spool: String, uploads: HTTPClient? = nil,
        afterStep: @escaping (Int) throws -> Void = { _ in }
    ) {
        api = DemoClient(client: client, uploads: uploads, afterStep: afterStep)
        sms = Spool(file: "\(spool)/sms.jsonl")
        push = Spool(file: "\(spool)/push.jsonl")
    }

    private struct Person {
        let phone: String
        let token: String
        let pushToken: String
        let id: String
    }

    func run() throws {
        let person = try signUp()
        try profile(person)
        try questionnaire(person)
        say("Visual preferences")
        try api.choosePictures(person.token)
        say("Verification")
        try api.verify(person.token)
        try onboarding(person)
        try recovery(person)
        say("\n\(api.steps) steps, each as the contract says.")
    }

    private static func newPhone() -> String { "+4670\(Int.random(in: 1_000_000...9_999_999))" }

    // MARK: Phone

    private func signUp() throws -> Person {
        say("Phone")
        let (phone, pushToken) = (Self.newPhone(), "demo-push-\(UUID().uuidString)")
        let (challenge, code) = try prove(phone, purpose: "login")
        let wrong = String(format: "%06d", ((Int(code) ?? 0) + 1) % 1_000_000)
        let device: JSONValue = ["name": "First phone", "platform": "ios", "pushToken": .string(pushToken)]
        let refused = try api.step(
            "a wrong code is refused", "POST", "/auth/otp/verify",
            body: ["challengeId": .string(challenge), "code": .string(wrong), "device": device], expect: 422)
        try api.check(refused["code"] == "otp_invalid" && refused["attemptsRemaining"] == 2, "two attempts remain")
        let session = try api.step(
            "the right code signs in", "POST", "/auth/otp/verify",
            body: ["challengeId": .string(challenge), "code": .string(code), "device": device], expect: 200)
        try api.check(session["isNewUser"] == true && session["deviceSecret"] != nil, "a new person on a new device")
        let used = try api.step(
            "a code works once", "POST", "/auth/otp/verify",
            body: ["challengeId": .string(challenge), "code": .string(code), "device": device], expect: 410)
        try api.check(used["code"] == "otp_expired", "a used code has expired")
        let renewed = try api.step(
            "the session is renewed", "POST", "/auth/token/refresh",
            body: ["refreshToken": session["refreshToken"] ?? .null], expect: 200)
        guard let user = renewed["user"] else { throw CommandError("the session names no user") }
        return Person(
            phone: phone, token: try api.text(renewed, "accessToken"), pushToken: pushToken,
            id: try api.text(user, "id"))
    }

    /// Asks for a code and reads it from the spool.
    ///
    /// - Parameter account: the phone number of the account that the SMS must name.
    private func prove(
        _ phone: String, purpose: String, account: String? = nil
    ) throws -> (challenge: String, code: String) {
        var body: [String: JSONValue] = ["phone": .string(phone), "purpose": .string(purpose)]
        body["accountPhone"] = account.map { .string($0) }
        let sent = try api.step(
            "a code is sent (\(purpose))", "POST", "/auth/otp/send", body: .object(body), expect: 202)
        try api.check(sent["maskedPhone"] == .string("+46 (***) ***-\(phone.suffix(4))"), "the number is masked")
        let line = try sms.wait(for: "the SMS") { $0["to"] == .string(phone) }
        let code = String((line["body"]?.stringValue ?? "").prefix { $0.isNumber })
        try api.check(code.count == 6, "the SMS begins with six digits")
        return (try api.text(sent, "challengeId"), code)
    }

    // MARK: Profile

    private func profile(_ person: Person) throws {
        say("Profile")
        let invalid = try api.step(
            "two invalid fields are both named", "PATCH", "/users/me", body: ["displayName": "x", "gender": "unknown"],
            token: person.token, expect: 422)
        try api.check(invalid["errors"]?.arrayValue?.count == 2, "one entry for each problem")
        let young = Timestamp.now().date.year - 18
        let me = try api.step(
            "the basics are saved", "PATCH", "/users/me",
            body: [
                "displayName": "Åsa", "gender": "prefer_not_to_say", "lookingFor": ["everyone"], "city": "Malmö",
                "dateOfBirth": .string("\(young - 10)-02-28"),
            ], token: person.token, expect: 200)
        try api.check(me["age"]?.integerValue ?? 0 >= 27 && me["ageGate"] == nil, "an adult passes the age gate")
        try api.step(
            "a mistyped date of birth is corrected", "PATCH", "/users/me",
            body: ["dateOfBirth": .string("\(young - 11)-02-28")], token: person.token, expect: 200)
        let locked = try api.step(
            "a second correction is refused", "PATCH", "/users/me",
            body: ["dateOfBirth": .string("\(young - 12)-02-28")],
            token: person.token, expect: 409)
        try api.check(locked["code"] == "date_of_birth_locked", "only staff can change it")
        try api.step(
            "the bio is skipped", "POST", "/users/me/skips", body: ["field": "bio"], token: person.token, expect: 200)
        let completion = try api.step(
            "what is missing", "GET", "/users/me/completion", token: person.token, expect: 200)
        try api.check(
            completion["missingRequired"] == [] && completion["skippedFields"] == ["bio"], "nothing required is missing"
        )
        try api.uploadPhoto(person.token)
    }

    // MARK: Questionnaire

    private func questionnaire(_ person: Person) throws {
        say("Questionnaire")
        let opened = try api.step("it is opened", "GET", "/compatibility/questions", token: person.token, expect: 200)
        let questions = opened["questions"]?.arrayValue ?? []
        try api.check(
            questions.count == 25 && questions.count { $0["required"] == true } == 10, "25 questions, 10 required")
        for question in questions.prefix(12) { try answer(question, person) }
        // Every request has its own connection, so this one looks like that of a restarted app.
        let resumed = try api.step(
            "resumed after a disconnect", "GET", "/compatibility/questions", token: person.token, expect: 200)
        try api.check(resumed["sessionId"] == opened["sessionId"], "the same session")
        try api.check(resumed["progress"]?["answered"] == 12, "twelve answers were kept")
        let early = try api.step(
            "it cannot be completed early", "POST", "/compatibility/responses",
            body: ["answers": [], "complete": true],
            token: person.token, expect: 409)
        try api.check(early["code"] == "questionnaire_incomplete", "required answers are missing")
        for question in questions.dropFirst(12) { try answer(question, person) }
        let done = try api.step(
            "it is completed", "POST", "/compatibility/responses", body: ["answers": [], "complete": true],
            token: person.token, expect: 200)
        try api.check(
            done["status"] == "completed" && done["progress"]?["percentage"] == 100, "all questions are answered")
    }

    private func answer(_ question: JSONValue, _ person: Person) throws {
        let key = try api.text(question, "key")
        try api.step(
            "\(key)", "POST", "/compatibility/responses",
            body: ["answers": [["question": .string(key), "value": try DemoAnswer.value(for: question)]]],
            token: person.token, expect: 200)
    }

    private func onboarding(_ person: Person) throws {
        say("Onboarding")
        let end = Date().addingTimeInterval(45)
        var state = JSONValue.null
        repeat {
            // Profile learns of the questionnaire, the visual preferences and the verdict by events. They may be late if a
            // process ended meanwhile.
            state = try api.client.send(
                "GET", "/users/me/onboarding", headers: ["Authorization": "Bearer \(person.token)"]
            )
            .body
            // The pause keeps the demo below the rate limit of a person.
            usleep(100_000)
        } while state["matchingMode"] != "full-confidence" && Date() < end
        let view = try api.step(
            "the onboarding status", "GET", "/users/me/onboarding", token: person.token, expect: 200)
        try api.check(view["onboardingStatus"] == "complete", "the onboarding is complete")
        try api.check(view["matchingMode"] == "full-confidence", "the person is matched with full confidence")
    }

    // MARK: Recovery

    private func recovery(_ person: Person) throws {
        say("Recovery")
        let (challenge, code) = try prove(Self.newPhone(), purpose: "recovery", account: person.phone)
        let requested = try api.step(
            "a claimant asks for the account", "POST", "/auth/recovery/request",
            body: [
                "accountPhone": .string(person.phone), "challengeId": .string(challenge), "code": .string(code),
                "device": ["name": "Second phone", "platform": "android"],
            ], expect: 202)
        let (id, claim) = (try api.text(requested, "recoveryId"), try api.text(requested, "recoveryToken"))
        let held = try api.step("the hold runs", "GET", "/auth/recovery/\(id)", token: claim, expect: 200)
        let remaining = held["remainingSeconds"]?.integerValue ?? 0
        try api.check(held["status"] == "held" && remaining > 0, "the case is held")
        say(
            "     the hold ends at \(try api.text(held, "holdUntil")), in \(remaining / 3600) h \(remaining / 60 % 60) min"
        )
        let note = try push.wait(for: "the push notification") {
            $0["pushToken"] == .string(person.pushToken) && $0["data"]?["recoveryId"] == .string(id)
        }
        try api.check(
            note["userId"] == .string(person.id) && note["data"]?["disputeToken"] != nil,
            "the owner's phone is notified")
        say("     the first phone reads: \(try api.text(note, "body"))")
        let disputed = try api.step(
            "the owner disputes", "POST", "/auth/recovery/\(id)/dispute", body: [:], token: person.token, expect: 200)
        try api.check(disputed["status"] == "disputed", "the case is over")
        let after = try api.step(
            "the claimant sees no change", "GET", "/auth/recovery/\(id)", token: claim, expect: 200)
        try api.check(after["status"] == "held", "the case looks as before")
        try api.step("the owner's session still works", "GET", "/users/me", token: person.token, expect: 200)
        try api.step("the owner signs out", "POST", "/auth/logout", token: person.token, expect: 204)
        // The token is refused within a second, but a busy machine may take longer.
        let end = Date().addingTimeInterval(15)
        var status = 200
        while status == 200, Date() < end {
            status = try api.client.send("GET", "/users/me", headers: ["Authorization": "Bearer \(person.token)"])
                .status
            usleep(50_000)
        }
        try api.step("the access token is refused", "GET", "/users/me", token: person.token, expect: 401)
    }
}
