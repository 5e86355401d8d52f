import BusProtocol
import JSONText

/// Work for a replica in its own process. It only takes time.
@Message
package struct TestWork: BusRequest {
    package typealias Reply = TestWorkDone
    package static let type: MessageType = "auth.labour"
    package static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read)
    /// Identifies the work in the replica's log, beside the time at which it began.
    @Field(.integer(0...1_000_000_000)) public var id: Int
    /// The milliseconds for which the loop is blocked.
    @Field(.integer(0...1000)) public var burnMs: Int = 0
    /// The milliseconds for which the handler waits without blocking the loop.
    @Field(.integer(0...60_000)) public var waitMs: Int = 0
}

/// The second version of ``TestWork``, which only the next build knows.
@Message
package struct ShiftWork: BusRequest {
    package typealias Reply = TestWorkDone
    package static let type = TestWork.type
    package static let version: UInt16 = 2
    package static let rules = TestWork.rules
    @Field(.integer(0...1_000_000_000)) public var id: Int
    @Field(.string(1...20)) public var shift: String
}

@Message
package struct TestWorkDone: BusReply {
    /// The ID of the process that did the work.
    @Field(.integer(1...Int64(Int32.max))) public var process: Int
}
