import Foundation
import JSONText

/// Takes one person through a plan to its end, as an app does that knows only what the server serves.
///
/// The app of the plan has the plan's key.
final class PlanDemo {
    private let api: DemoClient
    private let spool: String
    private let plan: String
    private let issuer: DemoIssuer?

    /// - Parameter issuer: stands in for Google; `nil` if the system does not trust it.
    init(client: HTTPClient, spool: String, plan: String, uploads: HTTPClient? = nil, issuer: DemoIssuer? = nil) {
        api = DemoClient(client: client, uploads: uploads)
        (self.spool, self.plan, self.issuer) = (spool, plan, issuer)
    }

    func run() throws {
        let token = try signIn()
        var done: [String] = []
        while let step = try current(after: done.last, token) {
            let key = try api.text(step, "key")
            try api.check(!done.contains(key), "the step \(key) is done once")
            done.append(key)
            let href = try api.text(step, "href")
            say("Step \(key)")
            switch step["kind"]?.stringValue {
            case "fields": try fill(href, token)
            case "questionnaire": try answer(href, token)
            case "visual_preferences": try api.choosePictures(token)
            case "verification": try api.verify(token)
            case let kind: throw CommandError("the demo cannot do steps of kind \(kind ?? "nothing")")
            }
        }
        try verifyIfOptional(token)
        say("\n\(api.steps) steps. The onboarding of \(plan) is complete.")
    }

    /// Does a verification that the plan only offers.
    private func verifyIfOptional(_ token: String) throws {
        func step() throws -> JSONValue? {
            let headers = ["Authorization": "Bearer \(token)"]
            let view = try api.send("GET", "/users/me/onboarding", body: nil, headers: headers).body
            return (view["steps"]?.arrayValue ?? []).first { $0["kind"] == "verification" }
        }
        guard try step()?["state"] == "pending" else { return }
        say("Step verification")
        try api.verify(token)
        let end = Date().addingTimeInterval(45)
        while try step()?["state"] != "done", Date() < end { usleep(100_000) }
        try api.check(try step()?["state"] == "done", "the person is verified")
    }

    // MARK: Sign-in

    /// Signs in to the plan's app by the first way that the development system can do.
    ///
    /// - Returns: an access token.
    func signIn() throws -> String {
        say("Sign-in to \(plan)")
        let methods =
            try api.step(
                "the ways to sign in", "GET", "/auth/methods?app=\(plan)", expect: 200)["methods"]?.arrayValue ?? []
        let keys = methods.compactMap { $0["key"]?.stringValue }
        if keys.contains("phone") {
            let phone = "+4670\(Int.random(in: 1_000_000...9_999_999))"
            return try signIn("/auth/otp", ["phone": .string(phone)], spooled: "sms", to: phone)
        }
        if keys.contains("email") {
            let email = "demo-\(UUID().uuidString.lowercased())@example.com"
            return try signIn("/auth/email", ["email": .string(email)], spooled: "email", to: email)
        }
        if keys.contains("google"), let issuer {
            let issued = try api.step(
                "a nonce is issued", "POST", "/auth/social/nonce", body: ["provider": "google"], expect: 200)
            let nonce = try api.text(issued, "nonce")
            let session = try api.step(
                "Google's token signs in", "POST", "/auth/social/google",
                body: [
                    "identityToken": .string(issuer.token(nonce: nonce)), "nonce": .string(nonce), "device": device,
                    "app": .string(plan),
                ], expect: 200)
            return try api.text(session, "accessToken")
        }
        throw CommandError(
            """
            \(plan) has no way to sign in by a code, and this system trusts no token of the demo's. Stop the system and \
            repeat the command: the demo starts one that does.
            """)
    }

    private func signIn(_ path: String, _ body: JSONValue, spooled: String, to address: String) throws -> String {
        let sent = try api.step("a code is sent", "POST", "\(path)/send", body: body, expect: 202)
        let line = try Spool(file: "\(spool)/\(spooled).jsonl").wait(for: "the code") { $0["to"] == .string(address) }
        let text = line["body"]?.stringValue ?? ""
        guard let code = text.firstMatch(of: /[0-9]{6}/) else { throw CommandError("the message has no code") }
        let session = try api.step(
            "the code signs in", "POST", "\(path)/verify",
            body: [
                "challengeId": sent["challengeId"] ?? .null, "code": .string(String(code.output)),
                "device": device, "app": .string(plan),
            ], expect: 200)
        return try api.text(session, "accessToken")
    }

    private var device: JSONValue { ["name": "Demo", "platform": "web"] }

    // MARK: Steps

    /// The step to continue at; `nil` if the onboarding is complete.
    ///
    /// - Parameter last: the step that was done just now. Profile learns of a completed questionnaire by an event, which
    ///   may be late.
    private func current(after last: String?, _ token: String) throws -> JSONValue? {
        let end = Date().addingTimeInterval(45)
        while let last, Date() < end {
            let view = try api.client.send(
                "GET", "/users/me/onboarding", headers: ["Authorization": "Bearer \(token)"]
            ).body
            guard view["next"]?["step"] == .string(last) else { break }
            usleep(100_000)
        }
        let view = try api.step("the onboarding", "GET", "/users/me/onboarding", token: token, expect: 200)
        try api.check(view["plan"]?["key"] == .string(plan), "the person follows the plan of the app")
        guard let next = view["next"] else {
            try api.check(view["onboardingStatus"] == "complete", "nothing is left")
            return nil
        }
        return (view["steps"]?.arrayValue ?? []).first { $0["key"] == next["step"] }
    }

    private func fill(_ href: String, _ token: String) throws {
        let catalogue = try api.step("the fields", "GET", href, token: token, expect: 200)
        var values: [String: JSONValue] = [:]
        for field in catalogue["fields"]?.arrayValue ?? [] where field["required"] == true {
            values[try api.text(field, "key")] = try DemoAnswer.value(for: field)
        }
        try api.step(
            "the required fields are saved", "PATCH", "/users/me", body: .object(values), token: token, expect: 200)
    }

    private func answer(_ href: String, _ token: String) throws {
        let opened = try api.send(
            "POST", href, body: [:],
            headers: ["Authorization": "Bearer \(token)", "Idempotency-Key": "demo-\(UUID().uuidString)"])
        try api.check([200, 201].contains(opened.status), "a session is opened")
        let session = "\(href)/\(try api.text(opened.body, "id"))"
        while true {
            let view = try api.step("the screens", "GET", "\(session)/view", token: token, expect: 200)
            guard let next = view["next"], next != .null else { break }
            let screens = view["screens"]?.arrayValue ?? []
            let screen = screens.first { screen in
                guard let question = screen["questions"]?.arrayValue?.last else { return false }
                return question["key"] == next["question"] && question["subject"] == next["subject"]
            }
            guard let screen, let question = screen["questions"]?.arrayValue?.last else {
                throw CommandError("the view has no screen for the next question")
            }
            if screen["adds"] != nil, next["reason"] == "subject_wanted" {
                try api.step(
                    "a subject is added", "PUT", "\(session)/subjects/\(UUID().uuidString.lowercased())",
                    body: ["label": "Kim"], token: token, expect: 200)
            } else {
                try save(question, in: session, token)
            }
        }
        try api.step("it is completed", "POST", "\(session)/complete", token: token, expect: 200)
    }

    private func save(_ question: JSONValue, in session: String, _ token: String) throws {
        let key = try api.text(question, "key")
        let subject = question["subject"]?.stringValue.map { "?subject=\($0)" } ?? ""
        var body: [String: JSONValue] = ["mutationId": .string(UUID().uuidString.lowercased())]
        if let upload = question["upload"] {
            let media = try api.uploadPhoto(
                token, kind: api.text(upload, "kind"), href: api.text(upload, "href"),
                placesHref: api.text(upload, "placesHref"))
            (body["state"], body["value"]) = ("answered", .string(media))
        } else if question["required"] != true, question["skippable"] == true {
            body["state"] = "skipped"
        } else {
            body["state"] = "answered"
            body["value"] = try DemoAnswer.value(for: question)
        }
        try api.step(
            key, "PUT", "\(session)/answers/\(key)\(subject)", body: .object(body), token: token, expect: 200)
    }
}
