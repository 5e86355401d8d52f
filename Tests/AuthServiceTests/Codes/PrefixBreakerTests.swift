import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime
import TestSupport
import Testing

@testable import AuthService

@Suite("the breaker of a prefix") struct PrefixBreakerTests {
    private static let environment = ["AUTH_OTP_PER_ADDRESS_HOUR": "1000"]

    /// Numbers of the prefix +1 4155.
    private static func phone(_ index: Int) -> String { "+14155\(550_000 + index)" }

    @Loop private func send(_ auth: AuthStage, to numbers: Range<Int>) async throws {
        for index in numbers { _ = try await auth.ask(SendOTP(phone: Self.phone(index))) }
    }

    @Loop private func signIn(_ auth: AuthStage, _ numbers: Range<Int>) async throws -> [Session] {
        var sessions: [Session] = []
        for index in numbers { sessions.append(try await auth.signIn(Self.phone(index))) }
        return sessions
    }

    @Test func closesForAnHourAfterFiftyUnverifiedNumbers() async throws {
        try await AuthStage.run(replicas: 2, environment: Self.environment) { auth in
            let known = try #require(try await signIn(auth, 0..<1).first)
            try await send(auth, to: 1..<50)
            let closed = try await auth.refusal(of: SendOTP(phone: Self.phone(50)))
            #expect(closed.code == "rate_limited" && (3_590_000...3_600_000).contains(closed.retryAfterMs ?? 0))
            // A stranger is told the same of a number that has an account.
            let taken = try await auth.refusal(of: SendOTP(phone: Self.phone(0)))
            #expect(taken.code == "rate_limited" && taken.details == closed.details)
            #expect((3_590_000...3_600_000).contains(taken.retryAfterMs ?? 0))
            // Operators hear of it.
            let container = auth.stage.containers[0]
            container.hurry()
            #expect(try await eventually { container.bus.report.gauges?["sms_prefixes_closed"] == 1 })
            // Neither another prefix of the country nor another country.
            for phone in ["+14156552671", "+46701234567"] { _ = try await auth.ask(SendOTP(phone: phone)) }
            // A device that signed in before is not refused either.
            let proof = SendOTP.Proof(id: known.deviceId, secret: try #require(known.deviceSecret))
            _ = try await auth.code(for: Self.phone(0), by: proof)
            // It opens by the clock, not by verifications.
            try await auth.age("1 hour")
            #expect(try await auth.refusal(of: SendOTP(phone: Self.phone(50))).code == "rate_limited")
            try await auth.stage.rows("UPDATE prefix_breakers SET until = until - interval '1 hour'")
            try await send(auth, to: 50..<60)
        }
    }

    @Test func staysOpenIfATenthOfTheNumbersIsVerified() async throws {
        try await AuthStage.run(environment: Self.environment) { auth in
            _ = try await signIn(auth, 0..<5)
            // The 51st number makes five of them less than a tenth.
            try await send(auth, to: 5..<51)
            #expect(try await auth.refusal(of: SendOTP(phone: Self.phone(51))).code == "rate_limited")
        }
    }

    @Test func looksAtDifferentNumbersOfTheLastHourThatGotTheirCode() async throws {
        try await AuthStage.run(environment: Self.environment.merging(["AUTH_OTP_PREFIX_BREAKER": "3"]) { $1 }) {
            auth in
            try await send(auth, to: 0..<2)
            try await auth.age("1 hour")
            try await send(auth, to: 2..<3)
            try await auth.stage.rows("UPDATE challenges SET state = 'undelivered'")
            try await send(auth, to: 3..<5)
            try await auth.age("2 minutes")
            // The same two again.
            try await send(auth, to: 3..<5)
            #expect(try await auth.stage.rows("SELECT count(*) FROM prefix_breakers") == "0")
            try await send(auth, to: 5..<6)
            #expect(try await auth.refusal(of: SendOTP(phone: Self.phone(6))).code == "rate_limited")
        }
    }

    @Test func canBeSwitchedOff() async throws {
        let off = Self.environment.merging(["AUTH_OTP_PREFIX_BREAKER": "off"]) { $1 }
        try await AuthStage.run(environment: off) { auth in
            try await send(auth, to: 0..<52)
        }
        await #expect(throws: ConfigurationError.self) {
            try await AuthStage.run(environment: ["AUTH_OTP_PREFIX_BREAKER": "many"]) { _ in }
        }
    }

    /// The oracle counts at each send.
    @Test func replicasCloseAtTheSendAtWhichACountEachTimeWould() {
        for _ in 0..<200 {
            var replicas = Array(repeating: PrefixBreaker(), count: .random(in: 1...15))
            let (attackBegins, verifiedShare) = (Int.random(in: 0..<1000), Double.random(in: 0...1))
            var count = PrefixBreaker.Count(asked: 0, verified: 0)
            var (isClosed, sends) = (false, 0)
            while sends < 4000, !isClosed {
                let replica = sends % replicas.count
                sends += 1
                count.asked += 1
                let mustClose = count.asked >= 50 && count.verified * 10 < count.asked
                if replicas[replica].mustCount([1], now: 0) {
                    replicas[replica].note(count, of: [1], now: 0)
                    isClosed = mustClose
                }
                guard isClosed == mustClose else {
                    Issue.record("not closed at send \(sends) of \(replicas.count) replicas, after \(count)")
                    return
                }
                if sends < attackBegins, .random(in: 0..<1) < verifiedShare { count.verified += 1 }
            }
        }
    }

    @Test func aBusyPrefixIsSeldomCountedAndACountIsGoodForFiveSeconds() {
        var breaker = PrefixBreaker()
        var counts = 0
        for asked in 1...10_000 where breaker.mustCount([1], now: 0) {
            counts += 1
            breaker.note(.init(asked: Int64(asked), verified: Int64(asked) * 9 / 10), of: [1], now: 0)
        }
        #expect(counts < 50)
        let (soon, late) = (
            breaker.mustCount([1], now: 4_999_999_999), breaker.mustCount([1], now: 5_000_000_000)
        )
        let other = breaker.mustCount([2], now: 0)
        #expect((soon, late, other) == (false, true, true))
    }

    @Test(
        "the country code and four digits",
        arguments: [("+14155552671", "14155"), ("+46701234567", "467012"), ("+35315550123", "3531555")])
    func prefix(phone: String, prefix: String) throws {
        #expect(try #require(PhoneNumber(phone)).destinationPrefix == prefix)
    }
}
