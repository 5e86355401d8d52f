import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// `vestibule recovery` on a whole system: cases from the claim to the account in its claimant's hands, or not, decided by
/// operators at a terminal. The holds end by the test's word in the tables, and by nothing that a user of the product has.
@Suite("vestibule recovery", .serialized) struct RecoveryCommandTests {
    @Test func decidesCasesFromTheClaimToTheEnd() throws {
        let system = try RunningSystem(scale: "recovery=2")
        defer { system.stop() }
        let desk = try Desk(system)
        let waiting = try desk.recovery("ls")
        #expect(waiting.code == 0 && waiting.output == "No recovery waits for a reviewer.\n")

        let owner = try desk.signUp("+46701000001")
        let claims = try ["+46701000002", "+46701000003"].map { try desk.claim("+46701000001", by: $0) }
        let evidence = try desk.send("POST", "\(claims[0].path)/identity", ["verificationId": "ver-1"], claims[0].token)
        #expect(evidence.status == 409 && evidence.body["code"] == "recovery_not_ready")
        #expect(evidence.body["retryAfterSeconds"]?.integerValue ?? 0 > 259_000)
        let early = try desk.recovery("approve", claims[0].id, "--note", "Yes.", "--operator", "anna")
        #expect(early.code == 1 && early.output.contains("recovery_not_ready"))
        try desk.endHolds()
        for claim in claims {
            let given = try desk.send("POST", "\(claim.path)/identity", ["verificationId": "ver-1"], claim.token)
            #expect(given.status == 202 && given.body["status"] == "in_review")
            try desk.untilJudged(claim)
        }

        // The oldest first, and times as the reader's clock has them.
        let list = try desk.recovery("ls", zone: "Asia/Kolkata")
        let rows = list.output.split(separator: "\n").map(String.init)
        #expect(rows.count == 3 && rows[0].hasPrefix("recovery") && rows[1].hasPrefix(claims[0].id))
        #expect(rows[2].hasPrefix(claims[1].id) && rows[1].contains("+05:30") && rows[1].contains("0 of 1"))
        let page = try desk.recovery("show", claims[0].id, zone: "America/St_Johns")
        for part in [
            "in_review", "ver-1 (undecided)", "requested", "hold_ended", "evidence_given", "recovery_requested",
        ] {
            #expect(page.output.contains(part), "\(part)")
        }
        #expect(page.output.contains("-03:30") || page.output.contains("-02:30"))
        #expect(!page.output.contains("+4670") && !page.output.contains(owner.id), "whose it is stays unsaid")

        let noteless = try desk.recovery("approve", claims[0].id, "--operator", "anna")
        #expect(noteless.code == 64)
        let approved = try desk.recovery("approve", claims[0].id, "--note", "The passport fits.", "--operator", "anna")
        #expect(approved.code == 0 && approved.output == "\(claims[0].id) is approved now.\n")
        let rejected = try desk.recovery("reject", claims[1].id, "--note", "Another face.", "--operator", "bo")
        #expect(rejected.code == 0 && rejected.output == "\(claims[1].id) is rejected now.\n")
        let late = try desk.recovery("approve", claims[1].id, "--note", "Yes.", "--operator", "anna")
        #expect(late.code == 1 && late.output.contains("recovery_closed"))
        #expect(try desk.recovery("show", Self.nobodys).output.contains("not_found"))

        let session = try desk.complete(claims[0], by: "+46701000002")
        #expect(session["user"]?["id"] == .string(owner.id))
        let me = try desk.send("GET", "/users/me", nil, try #require(session["accessToken"]?.stringValue))
        #expect(me.status == 200 && me.body["profile"]?["displayName"] == "Åsa")
        try system.installation.wait("the end of the old session") {
            try desk.send("GET", "/users/me", nil, owner.token).status == 401
        }

        // The whole trail leaves as JSON, each act under the hash of the one before.
        let export = try desk.recovery("export", claims[0].id)
        let trail = try #require(try JSONValue.parse(Array(export.output.utf8))["trail"]?.arrayValue)
        #expect(
            trail.compactMap { $0["act"]?.stringValue } == [
                "requested", "hold_ended", "evidence_given", "evidence_judged", "approved", "completion_begun",
                "completed",
            ])
        #expect(trail[4]["details"]?["reviewer"] == "operator anna")
        #expect(Set(trail.compactMap { $0["hash"]?.stringValue }).count == trail.count)
        #expect(try desk.recovery("ls", "--status", "completed").output.contains(claims[0].id))
        let unknown = try desk.recovery("ls", "--status", "done")
        #expect(unknown.code == 1 && unknown.output.contains("There is no such status. There are held, identity"))
        let verified = try system.installation.run(
            "audit", "verify", "recovery", "--state", system.installation.state.path)
        #expect(verified.code == 0, "\(verified.output)")
    }

    private static let nobodys = "019c2f00-0000-7000-8000-000000000004"
}

/// What people and operators do in a system that runs.
private struct Desk {
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

    private func code(for phone: String, _ purpose: String) throws -> (challenge: JSONValue, code: JSONValue) {
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
