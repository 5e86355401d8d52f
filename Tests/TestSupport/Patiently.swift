import BusProtocol
import EventLoop

/// Asks again where nothing was done, as a client does that is told to: who waits for a lock gives up soon, and on a busy
/// machine whoever holds it may stand still for longer.
@Loop public func patiently<Value: Sendable>(_ body: @Loop () async throws -> Value) async throws -> Value {
    while true {
        do {
            return try await body()
        } catch let error as any BusErrorConvertible
            where error.busError.code == ErrorCode.overloaded.name && error.busError.executed == .no
        {
            try await Loop.sleep(for: .milliseconds(20))
        }
    }
}
