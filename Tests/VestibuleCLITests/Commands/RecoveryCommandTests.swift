import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// `vestibule recovery` on a whole system. Operators at a terminal decide cases, from the claim to the end. The test
/// ends holds by a change in the tables, which no user can make.
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
