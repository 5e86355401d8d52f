import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// What people and operators do in a system that runs.
struct Desk {
    let system: RunningSystem
    private let client: HTTPClient
    private var state: StateFolder { system.installation.state }

    struct Claim {
        let id: String
        let token: String
        let deviceSecret: String
        var path: String { "/auth/recovery/\(id)" }
    }

    init(_ system: RunningSystem) throws {
        self.system = system
        client = try HTTPClient(system.address)
    }

    func recovery(_ words: String..., zone: String = "UTC") throws -> (code: Int32, output: String) {
        try system.installation.run(["recovery"] + words + ["--state", state.path], variables: ["TZ": zone])
    }

    func send(_ method: String, _ path: String, _ body: JSONValue?, _ token: String? = nil) throws -> HTTPAnswer {
        var headers = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        if method == "POST" { headers["Idempotency-Key"] = "desk-\(UUID().uuidString)" }
        return try client.send(method, path, body: body, headers: headers)
    }

    private func text(_ answer: HTTPAnswer, _ name: String) throws -> String {
        try #require(answer.body[name]?.stringValue, "\(answer.status): \(answer.body["detail"]?.stringValue ?? "")")
    }

    /// A challenge for a number, and the code that was sent there.
    func code(for phone: String, _ purpose: String) throws -> (challenge: JSONValue, code: JSONValue) {
        try system.sql("UPDATE auth.challenges SET created_at = created_at - interval '1 hour'")
        let file = "\(state.spool)/sms.jsonl"
        func codes() -> [String] {
            ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n")
                .compactMap { try? JSONValue.parse(Array($0.utf8)) }.filter { $0["to"] == .string(phone) }
                .compactMap { $0["body"]?.stringValue.map { String($0.prefix(6)) } }
                .filter { $0.allSatisfy(\.isNumber) }
        }
        let known = codes().count
        let sent = try send("POST", "/auth/otp/send", ["phone": .string(phone), "purpose": .string(purpose)])
        let challenge = try text(sent, "challengeId")
        try system.installation.wait("the SMS") { codes().count > known }
        return (.string(challenge), .string(codes()[known]))
    }

    func signUp(_ phone: String) throws -> (id: String, token: String) {
        let (challenge, code) = try code(for: phone, "login")
        let session = try send(
            "POST", "/auth/otp/verify",
            ["challengeId": challenge, "code": code, "device": ["name": "Pixel 8", "platform": "android"]])
        let token = try text(session, "accessToken")
        #expect(try send("PATCH", "/users/me", ["displayName": "Åsa"], token).status == 200)
        return (try #require(session.body["user"]?["id"]?.stringValue), token)
    }

    func claim(_ account: String, by phone: String) throws -> Claim {
        let (challenge, code) = try code(for: phone, "recovery")
        let answer = try send(
            "POST", "/auth/recovery/request",
            [
                "accountPhone": .string(account), "challengeId": challenge, "code": code,
                "device": ["name": "Pixel 9", "platform": "android"],
            ])
        return Claim(
            id: try text(answer, "recoveryId"), token: try text(answer, "recoveryToken"),
            deviceSecret: try text(answer, "deviceSecret"))
    }

    func complete(_ claim: Claim, by phone: String) throws -> JSONValue {
        let (challenge, code) = try code(for: phone, "recovery")
        let answer = try send(
            "POST", "\(claim.path)/complete",
            [
                "challengeId": challenge, "code": code,
                "device": ["secret": .string(claim.deviceSecret), "name": "Pixel 9", "platform": "android"],
            ], claim.token)
        #expect(answer.status == 200, "\(answer.body["detail"]?.stringValue ?? "")")
        return answer.body
    }

    func endHolds() throws {
        try system.sql("UPDATE recovery.cases SET hold_until = now()")
        try system.sql("UPDATE auth.freezes SET hold_until = now()")
        try system.sql("UPDATE recovery.outbox SET due_at = now() WHERE destination = 'timer:hold-ended'")
        try system.installation.wait("the end of the holds") {
            try system.sql("SELECT id FROM recovery.cases WHERE status = 'held'").isEmpty
        }
    }

    func untilJudged(_ claim: Claim) throws {
        try system.installation.wait("a verdict") {
            try !system.sql("SELECT id FROM recovery.cases WHERE verdict IS NOT NULL AND id = '\(claim.id)'").isEmpty
        }
    }
}
