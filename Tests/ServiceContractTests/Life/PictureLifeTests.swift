import BusProtocol
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

/// Pictures of a recovery through the whole system: from the claimant's phone to the reviewer, and to their
/// destruction.
@Suite("pictures of a recovery") struct PictureLifeTests {
    private static let (phone, unknown, leaver) = ("+14155552671", "+14155552699", "+14155552672")
    private static let claimants = ["+46701234567", "+46701234568", "+46701234569"]

    @Test(.bounded) func aReviewerSeesAClaimantsPicturesUntilTheCaseEnds() async throws {
        try await TestSystem.run { system in
            _ = try await system.onboarded(Self.phone)
            try await system.age()
            let real = try await Self.claim(system, Self.phone, by: Self.claimants[0])
            let decoy = try await Self.claim(system, Self.unknown, by: Self.claimants[1])
            let gone = try await Self.claimOfSomebodyWhoLeaves(system)
            try await system.quiet()
            try await system.rows(.recovery, "UPDATE cases SET hold_until = now()")
            try await system.rows(.recovery, "UPDATE outbox SET due_at = now() WHERE destination = 'timer:hold-ended'")
            let held = "SELECT count(*) FROM cases WHERE status = 'held'"
            try #require(try await eventually { try await system.rows(.recovery, held) == "0" })

            try await system.age()
            var sent: [[Int]] = []
            for (claim, claimant) in zip([real, decoy, gone], Self.claimants) {
                let (challenge, code) = try await system.code(for: claimant, purpose: "recovery")
                var answers: [Int] = []
                for proof in [(challenge, code), nil] {
                    let body: [String: JSONValue] = [
                        "contentType": "image/png", "length": .integer(Int64(Self.picture.count)),
                    ]
                    let proven: [String: JSONValue] =
                        proof.map { ["challengeId": .string("\($0.0)"), "code": .string($0.1)] } ?? [:]
                    let promised = try await system.send(
                        "POST", "/auth/recovery/\(claim.recoveryId)/pictures",
                        .object(body.merging(proven) { $1 }),
                        headers: ["Authorization": "Bearer \(claim.recoveryToken)"])
                    let url = promised.json["uploadUrl"]?.stringValue ?? ""
                    answers += [promised.status, try await Self.put(url)]
                }
                sent.append(answers)
            }
            #expect(sent == Array(repeating: [201, 204, 201, 204], count: 3))

            let staff = try await system.staff("+46707654321")
            let page = try await system.send("GET", "/admin/recovery/\(real.recoveryId)", as: staff)
            let pictures = page.json["pictures"]?.arrayValue ?? []
            #expect(pictures.count == 2 && pictures.allSatisfy { $0["side"] == "claimant" })
            let id = pictures.first?["mediaId"]?.stringValue ?? ""
            let look = try await system.send("GET", "/admin/recovery/\(real.recoveryId)/pictures/\(id)", as: staff)
            let url = look.json["url"]?.stringValue ?? ""
            #expect(look.status == 200)
            #expect(try await Self.get(url) == 200)
            #expect(try await system.rows(.recovery, "SELECT count(*) FROM audit WHERE act = 'picture_seen'") == "1")

            // First wait until no picture of the other cases is left.
            let left = "SELECT count(*) FROM media WHERE case_id <> '\(real.recoveryId)'"
            #expect(try await system.eventuallyNone(.verification, left))
            _ = try await system.ask(
                CancelRecovery(recoveryId: real.recoveryId, recoveryToken: real.recoveryToken))
            #expect(try await eventually { try await Self.get(url) == 404 })
            let all = "SELECT (SELECT count(*) FROM media) + (SELECT count(*) FROM destructions)"
            #expect(try await system.eventuallyNone(.verification, all))
            #expect(
                try await system.rows(.verification, "SELECT count(*) FROM audit WHERE act = 'media_destroyed'") == "6")
            #expect(system.pictureFiles == 0)
        }
    }

    /// The owner disputes the claim, and deletes the account.
    @Loop private static func claimOfSomebodyWhoLeaves(_ system: TestSystem) async throws -> RecoveryRequested {
        let owner = try await system.signIn(leaver)
        let claim = try await claim(system, leaver, by: claimants[2])
        _ = try await system.ask(DisputeRecovery(recoveryId: claim.recoveryId), as: owner)
        try await system.quiet()
        #expect(try await system.send("DELETE", "/users/me", as: owner).status == 202)
        return claim
    }

    @Loop private static func claim(
        _ system: TestSystem, _ phone: String, by claimant: String
    ) async throws -> RecoveryRequested {
        let (challenge, code) = try await system.code(for: claimant, purpose: "recovery")
        return try await system.ask(
            RequestRecovery(accountPhone: phone, challengeId: challenge, code: code, device: Sample.phone))
    }

    /// Sends the picture to an address, and returns the status.
    private static func put(_ url: String) async throws -> Int {
        let (port, target) = try Self.parts(of: url)
        let head =
            "PUT \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: image/png\r\n"
            + "Content-Length: \(picture.count)\r\n\r\n"
        return try await Exchange(port: port, bytes: Array(head.utf8) + picture).status
    }

    private static func get(_ url: String) async throws -> Int {
        let (port, target) = try Self.parts(of: url)
        return try await Exchange(port: port, request: "GET \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            .status
    }

    private static func parts(of url: String) throws -> (port: Int, target: String) {
        let parts = try #require(URLComponents(string: url))
        return (try #require(parts.port), "\(parts.percentEncodedPath)?\(parts.percentEncodedQuery ?? "")")
    }

    /// A PNG of 8 by 8 pixels.
    private static let picture = [UInt8](
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAE3RFWHRDb21tZW50AGNhbmFyeS0zZjlhhzsB5QAAABFJREFU"
                + "eJxjiKo4gRUxDC0JAPGRZoHNlH3HAAAAAElFTkSuQmCC") ?? Data())
}

extension TestSystem {
    /// Waits until the background tasks of a service have brought this count to 0.
    fileprivate func eventuallyNone(_ service: ServiceName, _ count: String) async throws -> Bool {
        try await eventually {
            hurry(service)
            return try await rows(service, count) == "0"
        }
    }
}
