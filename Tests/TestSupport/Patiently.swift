import BusProtocol
import EventLoop

/// Repeats a request that was refused as overloaded and not executed, as clients should, for up to half a minute.
///
/// A request that waits for a lock gives up soon. On a busy machine, the holder of the lock may take longer.
@Loop package func patiently<Value: Sendable>(_ body: @Loop () async throws -> Value) async throws -> Value {
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
