import BusProtocol
import JSONText

/// Work for a replica in a process of its own: nothing but time.
public struct Labour: BusRequest {
    public typealias Reply = Laboured
    public static let type: MessageType = "auth.labour"
    public static let schema = JSONSchema.object([
        .required("id", .integer(0...1_000_000_000)), .required("burnMs", .integer(0...1000)),
        .required("waitMs", .integer(0...60_000)),
    ])
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read)
    /// Stands in the replica's log, with the time at which it began.
    public var id: Int
    /// Milliseconds for which the loop does nothing else.
    public var burnMs: Int
    /// Milliseconds for which the loop is free.
    public var waitMs: Int

    public init(id: Int, burnMs: Int = 0, waitMs: Int = 0) {
        (self.id, self.burnMs, self.waitMs) = (id, burnMs, waitMs)
    }
}

/// The second version of ``Labour``, which only the next build knows.
public struct ShiftLabour: BusRequest {
    public typealias Reply = Laboured
    public static let type = Labour.type
    public static let version: UInt16 = 2
    public static let schema = JSONSchema.object([
        .required("id", .integer(0...1_000_000_000)), .required("shift", .string(1...20)),
    ])
    public static let rules = Labour.rules
    public var id: Int
    public var shift: String

    public init(id: Int, shift: String) { (self.id, self.shift) = (id, shift) }
}

public struct Laboured: BusReply {
    public static let schema = JSONSchema.object([.required("process", .integer(1...Int64(Int32.max)))])
    /// Who did it.
    public var process: Int
    public init(process: Int) { self.process = process }
}
