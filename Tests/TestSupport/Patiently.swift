import BusProtocol
import EventLoop

/// Asks again where nothing was done, as a client does that is told to: who waits for a lock gives up soon, and on a busy
/// machine whoever holds it may stand still for longer. Not for ever: after half a minute the refusal is the test's.
@Loop public func patiently<Value: Sendable>(_ body: @Loop () async throws -> Value) async throws -> Value {
    let end = MonotonicClock.now() + Duration.seconds(30).nanoseconds
    while true {
        do {
            return try await body()
        } catch let error as any BusErrorConvertible
            where error.busError.code == ErrorCode.overloaded.name && error.busError.executed == .no
            && MonotonicClock.now() < end
        {
            try await Loop.sleep(for: .milliseconds(20))
        }
    }
}
