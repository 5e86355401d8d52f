import BusProtocol
import EventLoop

/// What a process saw and did on the bus since it started. Nothing in it is about a person.
public struct BusReport: Codable, Sendable, Equatable {
    public var uptimeMs: Int64 = 0
    /// Requests that came here, by message and caller.
    public var served: [Traffic] = []
    /// Calls from here, by message; the partner is who answers it.
    public var asked: [Traffic] = []
    /// What befell the replicas of the services that are asked.
    public var fates: [ReplicaFates] = []
    public var counters = BusCounters()
    /// What the service behind it tells beside, by name: how much of something there is now.
    public var gauges: [String: Double]?

    public init() {}
}

/// What befell the replicas of one service, as one of its callers saw it.
public struct ReplicaFates: Codable, Sendable, Equatable {
    public var service: ServiceName
    /// Times that one was lost: gone, silent, or another process.
    public var lost = 0
    /// Times that one was put aside since it answered PINGs and no request.
    public var ejected = 0
    /// Frames from one that could not be read, or not in their place.
    public var malformedFrames = 0

    public init(_ service: ServiceName) { self.service = service }

    static func + (one: ReplicaFates, other: ReplicaFates) -> ReplicaFates {
        var sum = one
        sum.lost += other.lost
        sum.ejected += other.ejected
        sum.malformedFrames += other.malformedFrames
        return sum
    }
}

/// What a process counts beside the messages of each type.
public struct BusCounters: Codable, Sendable, Equatable {
    /// Frames that could not be read, or not in their place.
    public var malformedFrames = 0
    /// Messages that are not of this bus: another magic, another wire version, a key that is not allowed.
    public var foreignFrames = 0
    /// Replies whose caller was gone.
    public var undeliverable = 0
    /// Errors of handlers that had no words for the wire.
    public var internalErrors = 0
}

/// One request that was answered, without its body, as `vestibule bus tail` shows it.
public struct AnswerRecord: Codable, Sendable, Equatable {
    /// Counted from 1 by the answering process while somebody looks.
    public var number: UInt64
    public var at: Timestamp
    public var type: MessageType
    public var caller: ServiceName
    /// `ok` for a reply.
    public var code: String
    public var microseconds: Int64
    public var messageID: Identifier
    /// 32 hexadecimal digits, the same at every hop.
    public var traceID: String
}

/// The last answers, kept for as long as somebody looks.
@Loop struct AnswerLog {
    private var records: [AnswerRecord] = []
    private var last: UInt64 = 0
    private var watchedUntil: UInt64 = 0

    nonisolated init() {}

    /// Records told at once, and kept.
    static let capacity = 256
    /// Nanoseconds after a look until nobody looks any more.
    private static let attention: UInt64 = 5_000_000_000

    func isWatched(at now: UInt64) -> Bool { now < watchedUntil }

    mutating func note(_ context: RequestContext, _ code: String, nanoseconds: UInt64) {
        last += 1
        if records.count == Self.capacity { records.removeFirst() }
        records.append(
            AnswerRecord(
                number: last, at: .now(), type: context.type, caller: context.caller, code: code,
                microseconds: Int64(nanoseconds / 1000), messageID: context.messageID, traceID: context.trace.traceID))
    }

    /// What came after a number, and from now on somebody looks.
    mutating func after(_ number: UInt64, at now: UInt64) -> [AnswerRecord] {
        if !isWatched(at: now) { records = [] }
        watchedUntil = now + Self.attention
        return records.filter { $0.number > number }
    }
}

/// What the sender of a PING wants to know beside the state: the PING's body, which a heartbeat's has not. Answered to
/// operators, gateways and the replica's own service only: its health check asks with the service's key.
struct Inquiry: Codable, Sendable, Equatable {
    var wantsReport = false
    /// The number of the last ``AnswerRecord`` that is known, 0 for none.
    var answersAfter: UInt64?
}
