import BusProtocol
import JSONText

/// Work for a replica in a process of its own: nothing but time.
@Message
public struct TestWork: BusRequest {
    public typealias Reply = TestWorkDone
    public static let type: MessageType = "auth.labour"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read)
    /// Stands in the replica's log, with the time at which it began.
    @Field(.integer(0...1_000_000_000)) public var id: Int
    /// Milliseconds for which the loop does nothing else.
    @Field(.integer(0...1000)) public var burnMs: Int = 0
    /// Milliseconds for which the loop is free.
    @Field(.integer(0...60_000)) public var waitMs: Int = 0
}

/// The second version of ``TestWork``, which only the next build knows.
@Message
public struct ShiftWork: BusRequest {
    public typealias Reply = TestWorkDone
    public static let type = TestWork.type
    public static let version: UInt16 = 2
    public static let rules = TestWork.rules
    @Field(.integer(0...1_000_000_000)) public var id: Int
    @Field(.string(1...20)) public var shift: String
}

@Message
public struct TestWorkDone: BusReply {
    /// Who did it.
    @Field(.integer(1...Int64(Int32.max))) public var process: Int
}
