import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import AuthService

@Suite("whether a code is on its way") struct CodeDeliveryTests {
    private static let phone = "+14155552671"

    private static let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
    private static func state(
        _ state: ChallengeState, isSent: Bool = false, age: Duration = .seconds(10), lockedFor: Duration? = nil
    ) -> CodeDelivery {
        let created = now - age
        return CodeState(
            state: state, isSent: isSent, createdAt: created, expiresAt: created + .seconds(300),
            lockedUntil: lockedFor.map { now + $0 }, now: now
        ).delivery(resendAfter: 60)
    }

    private static func delivery(_ delivery: String, resend: Int64, expires: Int64) -> CodeDelivery {
        CodeDelivery(delivery: delivery, resendAfterSeconds: resend, expiresInSeconds: expires)
    }

    @Test func theDeliveryFollowsFromTheChallengesState() {
        #expect(Self.state(.open) == Self.delivery("queued", resend: 50, expires: 290))
        #expect(Self.state(.open, isSent: true) == Self.delivery("sent", resend: 50, expires: 290))
        #expect(Self.state(.open, isSent: true, age: .seconds(400)) == Self.delivery("sent", resend: 0, expires: 0))
        #expect(Self.state(.used) == Self.delivery("sent", resend: 50, expires: 0))
        #expect(Self.state(.superseded, isSent: true) == Self.delivery("sent", resend: 50, expires: 0))
        #expect(
            Self.state(.dead, isSent: true, lockedFor: .seconds(900)) == Self.delivery("sent", resend: 900, expires: 0)
        )
        // What never came counts for nothing.
        #expect(Self.state(.undelivered) == Self.delivery("failed", resend: 0, expires: 0))
    }

    @Loop private func delivery(of challenge: Identifier, _ auth: AuthStage) async throws -> CodeDelivery {
        try await auth.ask(GetCodeDelivery(challengeId: challenge))
    }

    @Test func aCodeIsSentOnceAProviderTookIt() async throws {
        let server = try await ProviderServer(.answers(status: 503, body: ""))
        let variables = await [
            "SMS_PROVIDER": "webhook", "SMS_WEBHOOK_URL": server.url,
            "SMS_WEBHOOK_KEY": "a key that only the test has, 32+",
        ]
        try await AuthStage.run(environment: variables) { auth in
            let sent = try await auth.ask(SendOTP(phone: Self.phone)).challengeId
            let queued = try await delivery(of: sent, auth)
            #expect(queued.delivery == "queued" && (50...60).contains(queued.resendAfterSeconds))
            #expect((290...300).contains(queued.expiresInSeconds))
            server.manner = .answers(status: 204, body: "")
            #expect(try await eventually { try await delivery(of: sent, auth).delivery == "sent" })
        }
        await server.stop()
    }

    @Test func aCodeThatIsBeingTriedDelaysNoOther() async throws {
        let server = try await ProviderServer(.answers(status: 503, body: ""))
        let variables = await [
            "SMS_PROVIDER": "webhook", "SMS_WEBHOOK_URL": server.url,
            "SMS_WEBHOOK_KEY": "a key that only the test has, 32+",
        ]
        try await AuthStage.run(environment: variables) { auth in
            let tried = try await auth.ask(SendOTP(phone: Self.phone)).challengeId
            let other = try await auth.ask(SendOTP(phone: "+14155552672")).challengeId
            try await auth.stage.containers[0].database.transaction { transaction in
                _ = try await transaction.query("SELECT id FROM challenges WHERE id = $1 FOR UPDATE", [.uuid(tried)])
                server.manner = .answers(status: 204, body: "")
                #expect(try await eventually { try await delivery(of: other, auth).delivery == "sent" })
                #expect(try await delivery(of: tried, auth).delivery == "queued")
            }
            // A person who tries a code has it, so the try notes that it was sent.
            let wrong = VerifyOTP(challengeId: tried, code: "000000", device: AuthStage.device)
            #expect(try await auth.refusal(of: wrong).code == "otp_invalid")
            #expect(try await delivery(of: tried, auth).delivery == "sent")
        }
        await server.stop()
    }

    @Test func anAbandonedCodeIsReportedAsFailed() async throws {
        try await AuthStage.run { auth in
            auth.spool.remove()
            let sent = try await auth.ask(SendOTP(phone: Self.phone)).challengeId
            let last = "UPDATE outbox SET attempts = 9, due_at = now() WHERE locked_until IS NULL"
            #expect(
                try await eventually {
                    try await auth.stage.rows(last)
                    return try await delivery(of: sent, auth)
                        == CodeDelivery(delivery: "failed", resendAfterSeconds: 0, expiresInSeconds: 0)
                })
        }
    }

    @Test func deliveryIsTheSameWithAndWithoutAnAccount() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.phone)
            let known = try await auth.code(again: Self.phone).challenge
            let unknown = try await auth.code(for: "+14155552672").challenge
            for id in [known, unknown] {
                #expect(try await eventually { try await delivery(of: id, auth).delivery == "sent" })
            }
            // In the same second of their lives.
            try await auth.stage.rows(
                "UPDATE challenges SET created_at = now(), expires_at = now() + interval '299 s 900 ms'")
            // Their second may end between two looks, but not between three that agree.
            var seen: [CodeDelivery] = []
            repeat {
                seen = []
                for id in [known, unknown, known] { seen.append(try await delivery(of: id, auth)) }
            } while seen[0] != seen[2]
            #expect(seen[0] == seen[1])
            let error = try await auth.refusal(of: GetCodeDelivery(challengeId: .ordered()))
            #expect(error.code == "not_found")
        }
    }
}
