import Foundation

/// The time, and waiting for it. Tests bring their own.
public struct ClientClock: Sendable {
    /// The time now.
    public var now: @Sendable () -> Date
    /// Waits for some seconds, or until the task is cancelled, which throws.
    public var sleep: @Sendable (TimeInterval) async throws -> Void
    /// From 0 up to 1, another number each time.
    public var random: @Sendable () -> Double

    /// A clock of these parts.
    public init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (TimeInterval) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        (self.now, self.sleep, self.random) = (now, sleep, random)
    }

    /// The device's.
    public static let system = ClientClock(
        now: { Date() }, sleep: { try await Task.sleep(nanoseconds: UInt64($0 * 1_000_000_000)) },
        random: { Double.random(in: 0..<1) })
}
