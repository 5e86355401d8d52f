import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// What strangers do to a phone counts against strangers; what its owner's device does counts against that device.
@Suite("shares of a phone") struct ShareTests {
    private static let phone = "+14155552671"
    private static let alternatives: [String: JSONValue] = [
        "alternatives": ["known_device", "linked_identity", "try_later"]
    ]

    private func proof(of session: Session) throws -> SendOTP.Proof {
        SendOTP.Proof(id: session.deviceId, secret: try #require(session.deviceSecret))
    }

    private func verify(_ sent: (challenge: Identifier, code: String)) -> VerifyOTP {
        VerifyOTP(challengeId: sent.challenge, code: sent.code, device: AuthStage.device)
    }

    /// How many of the sends were done.
    @Loop private func done(_ sends: [Task<OTPSent?, any Error>]) async throws -> Int {
        var count = 0
        for send in sends where try await send.value != nil { count += 1 }
        return count
    }

    /// Strangers at other addresses try wrong codes until the phone takes no more; what each was told.
    @Loop private func spend(_ auth: AuthStage) async throws -> [String] {
        var told: [String] = []
        for stranger in 1...4 {
            try await auth.age("2 minutes")
            let sent = try await auth.code(for: Self.phone, at: "198.51.100.\(stranger)")
            while told.last != "otp_locked" || told.count == 3 * (stranger - 1) {
                told.append(try await auth.refusal(of: verify((sent.challenge, AuthStage.wrong(sent.code)))).code)
            }
        }
        return told
    }

    @Test func tenWrongCodesADayOverAllChallenges() async throws {
        try await AuthStage.run { auth in
            let early = try await auth.code(for: Self.phone)
            let told = try await spend(auth)
            let three = ["otp_invalid", "otp_invalid", "otp_locked"]
            #expect(told == three + three + three + ["otp_locked"], "the tenth is the last")
            #expect(try await auth.stage.rows("SELECT sum(wrong_tries) FROM challenges") == "10")
            // Even the right code of another challenge is refused, and no new code is sent.
            try await auth.stage.rows("UPDATE challenges SET state = 'open' WHERE id = '\(early.challenge)'")
            let spent = try await auth.refusal(of: verify(early))
            #expect(spent.code == "otp_locked" && spent.executed == .no && spent.details == Self.alternatives)
            #expect((80_000_000...87_300_000).contains(spent.retryAfterMs ?? 0))
            let refused = try await auth.refusal(of: SendOTP(phone: Self.phone))
            #expect(refused.details == Self.alternatives)
            #expect(refused.code == "rate_limited" && (80_000_000...87_300_000).contains(refused.retryAfterMs ?? 0))
            // A day later all is forgotten.
            try await auth.age("24 hours 20 minutes")
            _ = try await auth.ask(verify(try await auth.code(for: Self.phone)))
        }
    }

    @Test func concurrentWrongCodesAreLimitedToTenToo() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            var guesses: [VerifyOTP] = []
            for stranger in 1...3 {
                try await auth.age("2 minutes")
                let sent = try await auth.code(for: Self.phone, at: "198.51.100.\(stranger)")
                guesses.append(verify((sent.challenge, AuthStage.wrong(sent.code))))
            }
            // Seven were tried before, at a challenge that is gone.
            try await auth.stage.rows(
                """
                INSERT INTO challenges (id, phone_hash, phone_sealed, purpose, asker, address_hash, code_hash, state,
                    wrong_tries, created_at, expires_at)
                SELECT gen_random_uuid(), phone_hash, '', 'login', 'address 00', '', '', 'dead', tries,
                    now() - interval '3 hours', now()
                FROM challenges, unnest(ARRAY[3, 3, 1]) AS tries WHERE id = '\(guesses[0].challengeId)'
                """)
            let wrong = guesses
            let tries = (0..<24).map { number in Loop.spawn { try? await auth.ask(wrong[number % 3]) } }
            for attempt in tries { _ = try await attempt.value }
            // A request that waits too long for the phone's lock is refused as overloaded and does not count.
            let count = try await auth.stage.rows("SELECT sum(wrong_tries) FROM challenges")
            #expect(["8", "9", "10"].contains(count))
        }
    }

    @Test func concurrentSendsDoNotPassTheLimits() async throws {
        try await AuthStage.run(replicas: 2, environment: ["AUTH_OTP_PER_ADDRESS_HOUR": "4"]) { auth in
            let toOne = (1...16).map { stranger in
                Loop.spawn { try? await auth.ask(SendOTP(phone: Self.phone), at: "198.51.100.\(stranger)") }
            }
            #expect(try await done(toOne) == 1, "a minute between two codes")
            let fromOne = (1...16).map { number in
                Loop.spawn { try? await auth.ask(SendOTP(phone: "+141555526\(number + 10)"), at: "203.0.113.1") }
            }
            // A request that waits too long for the address's lock is refused as overloaded.
            let sent = try await done(fromOne)
            #expect((1...4).contains(sent))
            #expect(auth.spool.messages().count <= 5)
        }
    }

    @Test func aDeviceThatSignedInBeforeIsNotLockedOutByStrangers() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.phone)
            let proof = try proof(of: owner)
            // A minute after somebody's send is for strangers; the device has not sent yet.
            let stranger = try await auth.refusal(of: SendOTP(phone: Self.phone))
            #expect(stranger.code == "rate_limited" && stranger.details == Self.alternatives)
            let sent = try await auth.code(for: Self.phone, by: proof)
            let device = try await auth.refusal(of: SendOTP(phone: Self.phone, device: proof))
            #expect(device.code == "rate_limited" && device.details == nil)
            _ = try await spend(auth)
            // The code that the device got before still counts, and so does a new one.
            #expect(try await auth.ask(verify(sent)).user.id == owner.user.id)
            let again = try await auth.code(for: Self.phone, by: proof)
            #expect(try await auth.ask(verify(again)).user.id == owner.user.id)
            #expect(try await auth.refusal(of: SendOTP(phone: Self.phone)).code == "rate_limited")
        }
    }

    @Test func aKnownDevicesTriesCountAgainstItAlone() async throws {
        try await AuthStage.run { auth in
            let proof = try proof(of: try await auth.signIn(Self.phone))
            try await auth.age("2 hours")
            for _ in 1...5 {
                _ = try await auth.code(for: Self.phone, by: proof)
                try await auth.age("2 minutes")
            }
            let sixth = try await auth.refusal(of: SendOTP(phone: Self.phone, device: proof))
            #expect(sixth.code == "rate_limited" && (2_900_000...3_000_000).contains(sixth.retryAfterMs ?? 0))
            // Strangers have their own five, and the device's tries are its own.
            let stranger = try await auth.code(for: Self.phone)
            #expect(
                try await auth.stage.rows(
                    "SELECT asker LIKE 'address %' FROM challenges WHERE state = 'open' AND id = '\(stranger.challenge)'"
                ) == "t")
            try await auth.age("1 hour")
            let own = try await auth.code(for: Self.phone, by: proof)
            for _ in 1...3 { _ = try await auth.refusal(of: verify((own.challenge, AuthStage.wrong(own.code)))) }
            try await auth.age("2 minutes")
            #expect(try await auth.refusal(of: SendOTP(phone: Self.phone, device: proof)).code == "otp_locked")
            _ = try await auth.code(for: Self.phone)
        }
    }

    /// Each sign-in that names no device makes one, which has not asked for anything yet.
    @Test func newDevicesDoNotLiftTheCodeLimitOfANumber() async throws {
        try await AuthStage.run { auth in
            var session = try await auth.signIn(Self.phone)
            for _ in 1...10 {
                session = try await auth.ask(verify(try await auth.code(for: Self.phone, by: try proof(of: session))))
            }
            let eleventh = SendOTP(phone: Self.phone, device: try proof(of: session))
            let refused = try await auth.refusal(of: eleventh)
            #expect(refused.code == "rate_limited" && (3_500_000...3_600_000).contains(refused.retryAfterMs ?? 0))
            for _ in 1...10 {
                try await auth.age("61 minutes")
                session = try await auth.ask(verify(try await auth.code(for: Self.phone, by: try proof(of: session))))
            }
            try await auth.age("61 minutes")
            let last = SendOTP(phone: Self.phone, device: try proof(of: session))
            #expect(try await auth.refusal(of: last).code == "rate_limited", "twenty within a day")
            // Strangers have their own.
            _ = try await auth.code(for: Self.phone)
        }
    }

    @Test func strangersEvictNoDevicesCodeAndAtMostThreeCodesAreOpen() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.phone)
            let sent = try await auth.code(for: Self.phone, by: try proof(of: owner))
            for stranger in 1...4 {
                try await auth.age("2 minutes")
                _ = try await auth.code(for: Self.phone, at: "198.51.100.\(stranger)")
                let open = try await auth.stage.rows("SELECT count(*) FROM challenges WHERE state = 'open'")
                #expect(open == "\(min(stranger + 1, 3))")
            }
            #expect(try await auth.ask(verify(sent)).user.id == owner.user.id)
        }
    }

    @Test func aDeviceIsUnknownForOtherPhonesAndWithAWrongSecret() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.phone)
            let other = try proof(of: try await auth.signIn("+14155552672"))
            #expect(try await auth.refusal(of: SendOTP(phone: Self.phone, device: other)).code == "rate_limited")
            let guessed = SendOTP.Proof(id: other.id, secret: "ds_guessed")
            let refused = try await auth.refusal(of: SendOTP(phone: "+14155552672", device: guessed))
            #expect(refused.code == "rate_limited")
        }
    }

    @Test func anIPv6HouseholdSharesOneLimit() async throws {
        try await AuthStage.run(environment: ["AUTH_OTP_PER_ADDRESS_HOUR": "2"]) { auth in
            let owner = try await auth.signIn(Self.phone)
            for (host, phone) in [("1", "+14155552672"), ("ffff:2", "+14155552673")] {
                _ = try await auth.code(for: phone, at: "2001:db8:0:7::\(host)")
            }
            let third = SendOTP(phone: "+14155552674")
            #expect(try await auth.refusal(of: third, at: "2001:db8:0:7:9::3").code == "rate_limited")
            _ = try await auth.ask(third, at: "2001:db8:0:8::3")
            // The owner behind the same address does not pay for it.
            let sent = try await auth.code(for: Self.phone, by: try proof(of: owner), at: "2001:db8:0:7::4")
            #expect(try await auth.ask(verify(sent)).user.id == owner.user.id)
        }
    }

    /// A /48 contains 65,536 /64 networks.
    @Test func aSiteHasTheSharesOfEightHouseholds() async throws {
        try await AuthStage.run(environment: ["AUTH_OTP_PER_ADDRESS_HOUR": "1"]) { auth in
            let owner = try await auth.signIn(Self.phone)
            for network in 1...8 {
                _ = try await auth.ask(SendOTP(phone: "+1415555268\(network)"), at: "2001:db8:0:\(network)::1")
            }
            let ninth = SendOTP(phone: "+14155552689")
            let refused = try await auth.refusal(of: ninth, at: "2001:db8:0:9::1")
            #expect(refused.code == "rate_limited" && refused.details == Self.alternatives)
            // Neither another site nor the owner there pays for it.
            _ = try await auth.ask(ninth, at: "2001:db8:1:9::1")
            _ = try await auth.code(for: Self.phone, by: try proof(of: owner), at: "2001:db8:0:9::1")
        }
    }

    @Test func nothingIsSentWhileTheLimitsAreUnavailable() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            _ = try await auth.code(for: Self.phone)
            try await auth.stage.scratch.refuseConnections()
            // Once both replicas say that they are not ready, the gateway waits for one until its time is over. One that
            // has not said it yet waits for a connection, and its answer may come too late.
            var options = auth.options()
            options.timeout = .milliseconds(500)
            for phone in [Self.phone, "+14155552672", "+14155552673"] {
                let error = await #expect(throws: BusError.self) {
                    try await auth.gateway.call(SendOTP(phone: phone), options)
                }
                #expect(["service_unavailable", "deadline_exceeded"].contains(error?.code))
            }
            try await auth.stage.scratch.takeConnections()
            #expect(try await auth.stage.rows("SELECT count(*) FROM challenges") == "1")
            #expect(auth.spool.messages().count == 1)
        }
    }
}
