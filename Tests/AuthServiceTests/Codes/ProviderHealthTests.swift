import Testing

@testable import AuthService

@Suite("provider health") struct ProviderHealthTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func threeFailuresInARowMarkAProviderDownForHalfAMinute() {
        var health = ProviderHealth()
        for at in 1...2 { health.noteFailure(at: UInt64(at) * Self.second) }
        #expect(health.downFor(at: 2 * Self.second) == nil)
        health.noteFailure(at: 3 * Self.second)
        #expect(health.downFor(at: 3 * Self.second) == .seconds(30))
        #expect(health.downFor(at: 32 * Self.second) == .seconds(1))
        #expect(health.downFor(at: 33 * Self.second) == nil)
        // The one that was let through failed, too.
        health.noteFailure(at: 40 * Self.second)
        #expect(health.downFor(at: 41 * Self.second) == .seconds(29))
    }

    @Test func oneRefusedConnectionMarksAProviderDown() {
        var health = ProviderHealth()
        health.noteFailure(isRefused: true, at: Self.second)
        #expect(health.downFor(at: Self.second) == .seconds(30))
        health.noteFailure(at: 40 * Self.second)
        #expect(health.downFor(at: 41 * Self.second) == .seconds(29))
    }

    @Test func oneSuccessMarksAProviderUp() {
        var health = ProviderHealth()
        for _ in 0..<9 { health.noteFailure(at: Self.second) }
        health.noteSuccess()
        health.noteFailure(at: 2 * Self.second)
        #expect(health.downFor(at: 2 * Self.second) == nil)
    }
}
