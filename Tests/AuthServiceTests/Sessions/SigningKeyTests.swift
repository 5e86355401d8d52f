import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("signing keys") struct SigningKeyTests {
    private static let now = Timestamp("2026-02-20T09:00:00Z")!

    private func at(_ seconds: Int64) -> Timestamp { Self.now + .seconds(seconds) }

    @Test(
        "the key that began last signs",
        arguments: [([0], 0), ([-5, -900], -5), ([600, -5], -5), ([1, 0, -5], 0), ([5], nil), ([], nil)]
            as [([Int64], Int64?)])
    func signer(signsFrom: [Int64], expected: Int64?) {
        #expect(SigningKeyPolicy.signer(of: signsFrom.map { at($0) }, at: Self.now) == expected.map { at($0) })
    }

    @Test func theScheduleCountsFromWhenAKeyBeganToSign() {
        let day = Duration.seconds(86_400)
        #expect(!SigningKeyPolicy.isDue(newest: at(-86_399), every: day, now: Self.now))
        #expect(SigningKeyPolicy.isDue(newest: at(-86_400), every: day, now: Self.now))
        #expect(!SigningKeyPolicy.isDue(newest: at(600), every: day, now: Self.now), "one waits already")
        #expect(!SigningKeyPolicy.isDue(newest: at(-86_400_000), every: nil, now: Self.now))
    }

    @Test func aKeyIsForgottenWhenNoTokenOfItCanBeAlive() {
        #expect(!SigningKeyPolicy.isOver(successor: at(-1199), now: Self.now))
        #expect(SigningKeyPolicy.isOver(successor: at(-1200), now: Self.now))
    }

    @Loop private func rotator(_ auth: AuthStage, every period: Duration? = nil) -> SigningKeyRotator {
        let container = auth.stage.containers[0]
        return SigningKeyRotator(
            database: container.database, sealer: Secrets(container.keys).keySealer, audit: container.audit,
            period: period)
    }

    /// Makes the keys older by the interval.
    @Loop private func age(_ auth: AuthStage, _ interval: String) async throws {
        try await auth.stage.rows("UPDATE signing_keys SET signs_from = signs_from - interval '\(interval)'")
    }

    @Test func areMadeByTheScheduleOnceForTheFleet() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let rotators = (0..<4).map { _ in rotator(auth, every: .seconds(30 * 86_400)) }
            try await age(auth, "29 days 23 hours")
            for rotator in rotators { try await rotator.load() }
            #expect(try await auth.stage.rows("SELECT count(*) FROM signing_keys") == "1")
            try await age(auth, "1 hour")
            let loads = rotators.map { rotator in Loop.spawn { try await patiently { try await rotator.load() } } }
            for load in loads { try await load.value }
            #expect(try await auth.stage.rows("SELECT count(*) FROM signing_keys") == "2")
            let wait =
                "SELECT max(signs_from) - now() BETWEEN interval '9 minutes' AND interval '10 minutes' FROM signing_keys"
            #expect(try await auth.stage.rows(wait) == "t")
        }
    }

    @Test func arePublishedThenSignThenRetireThenGo() async throws {
        try await AuthStage.run { auth in
            let rotator = rotator(auth)
            try await rotator.load()
            let old = try rotator.issuer(at: .now()).kid
            let rotated = try await auth.stage.asking(as: .operator).call(RotateSigningKey(), auth.options())
            #expect(try await rotator.rotate() == rotated, "it waits already")
            #expect(try rotator.published.keys.map(\.kid) == [rotated.kid, old])
            #expect(try rotator.issuer(at: .now()).kid == old)
            #expect(try rotator.issuer(at: rotated.signsFrom).kid == rotated.kid)

            try await age(auth, "10 minutes")
            try await rotator.load()
            #expect(try rotator.issuer(at: .now()).kid == rotated.kid)
            #expect(try rotator.published.keys.count == 2)
            try await age(auth, "19 minutes 50 seconds")
            for _ in 0..<2 { try await rotator.load() }
            #expect(try rotator.published.keys.count == 2, "a token of the old one may be alive")
            try await age(auth, "10 seconds")
            for _ in 0..<2 { try await rotator.load() }
            #expect(try rotator.published.keys.map(\.kid) == [rotated.kid])
            #expect(try await auth.stage.rows("SELECT kid FROM signing_keys") == rotated.kid)
        }
    }

    /// Otherwise a sign-in at a replica that has just started would fail.
    @Test func areReadBeforeAReplicaIsReady() async throws {
        try await AuthStage.run { auth in
            let instance = try await auth.stage.addReplica().bus.configuration.instance
            try await auth.stage.untilReady()
            let lines = auth.stage.log.text.split(separator: "\n").filter { $0.contains("\(instance)") }
            let events = try lines.map { try JSONValue.parse(Array($0.utf8))["event"]?.stringValue }
            #expect(events.filter { ["signing_key", "ready"].contains($0) } == ["signing_key", "ready"])
        }
    }

    @Test func noServiceButAnOperatorRotatesThem() async throws {
        try await AuthStage.run { auth in
            let error = await #expect(throws: BusError.self) { try await auth.ask(RotateSigningKey()) }
            #expect(error?.code == "caller_not_allowed")
        }
    }
}
