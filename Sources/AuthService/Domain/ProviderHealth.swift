/// Tells from the last deliveries whether a provider is down.
///
/// After three failures in a row, or one refused connection, the provider counts as down for 30 s. Then the next
/// delivery is tried.
struct ProviderHealth: Sendable, Equatable {
    static let failuresToBeDown = 3
    static let memory = Duration.seconds(30)
    private var failures = 0
    /// In nanoseconds of a monotonic clock.
    private var lastFailure: UInt64 = 0

    mutating func noteSuccess() { failures = 0 }

    /// - Parameter isRefused: whether the connection was refused. One such failure is enough.
    mutating func noteFailure(isRefused: Bool = false, at now: UInt64) {
        failures = isRefused ? max(failures + 1, Self.failuresToBeDown) : failures + 1
        lastFailure = now
    }

    /// How much longer the provider counts as down; `nil` if it does not.
    func downFor(at now: UInt64) -> Duration? {
        let end = lastFailure + UInt64(Self.memory.components.seconds) * 1_000_000_000
        guard failures >= Self.failuresToBeDown, now < end else { return nil }
        return .nanoseconds(Int64(clamping: end - now))
    }
}
