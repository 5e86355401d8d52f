/// Whether a provider is known to be down, from what became of the last deliveries.
///
/// Three failures in a row say so, or one refused connection, for 30 s after the last of them; then the next one is let
/// through and tells.
struct ProviderHealth: Sendable, Equatable {
    static let failuresToBeDown = 3
    static let memory = Duration.seconds(30)
    private var failures = 0
    /// Nanoseconds of a monotonic clock.
    private var lastFailure: UInt64 = 0

    mutating func noteSuccess() { failures = 0 }

    /// - Parameter isRefused: nobody listened: it need not happen thrice.
    mutating func noteFailure(isRefused: Bool = false, at now: UInt64) {
        failures = isRefused ? max(failures + 1, Self.failuresToBeDown) : failures + 1
        lastFailure = now
    }

    /// How long it is still held to be down; `nil` where it is not.
    func downFor(at now: UInt64) -> Duration? {
        let end = lastFailure + UInt64(Self.memory.components.seconds) * 1_000_000_000
        guard failures >= Self.failuresToBeDown, now < end else { return nil }
        return .nanoseconds(Int64(clamping: end - now))
    }
}
