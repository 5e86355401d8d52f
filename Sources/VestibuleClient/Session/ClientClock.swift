import Foundation

/// Tells the time and waits. Tests use a clock of their own.
public struct ClientClock: Sendable {
    /// The time now.
    public var now: @Sendable () -> Date
    /// Waits for some seconds. It throws if the task is cancelled.
    public var sleep: @Sendable (TimeInterval) async throws -> Void
    /// Returns a new random number each time, from 0 up to 1.
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
