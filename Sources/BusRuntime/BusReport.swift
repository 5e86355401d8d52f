import BusProtocol
import EventLoop

/// The counts of a process on the bus since it started. Nothing in them is about a person.
package struct BusReport: Codable, Sendable, Equatable {
    /// Time since the process started, in milliseconds.
    package var uptimeMs: Int64 = 0
    /// Requests that arrived here, by message and caller.
    package var served: [Traffic] = []
    /// Calls from here, by message and called service.
    package var asked: [Traffic] = []
    /// Problems with the replicas of the called services.
    package var fates: [ReplicaFates] = []
    /// Further counts besides the messages of each type.
    package var counters = BusCounters()
    /// Further gauges of the service, by name.
    package var gauges: [String: Double]?

    /// Makes an empty report.
    package init() {}
}

/// Problems with the replicas of one service, as one of its callers saw them.
package struct ReplicaFates: Codable, Sendable, Equatable {
    /// The called service.
    package var service: ServiceName
    /// How often a replica was lost: gone, silent, or replaced by another process.
    package var lost = 0
    /// How often a replica was ejected because it answered PINGs but no requests.
    package var ejected = 0
    /// Frames from a replica that were malformed or unexpected.
    package var malformedFrames = 0

    /// Makes counts of zero for one service.
    package init(_ service: ServiceName) { self.service = service }

    static func + (one: ReplicaFates, other: ReplicaFates) -> ReplicaFates {
        var sum = one
        sum.lost += other.lost
        sum.ejected += other.ejected
        sum.malformedFrames += other.malformedFrames
        return sum
    }
}

/// The counts of a process besides the messages of each type.
package struct BusCounters: Codable, Sendable, Equatable {
    /// Frames that were malformed or unexpected.
    package var malformedFrames = 0
    /// Messages with another magic, another wire version or a key that is not allowed.
    package var foreignFrames = 0
    /// Answers whose caller was gone.
    package var undeliverable = 0
    /// Errors of handlers that were not bus errors.
    package var internalErrors = 0
}

/// One request that was answered, without its body, as `vestibule bus tail` shows it.
package struct AnswerRecord: Codable, Sendable, Equatable {
    /// The number of the record, from 1. The process counts while an operator watches.
    package var number: UInt64
    /// When the request was answered.
    package var at: Timestamp
    /// The type of the request.
    package var type: MessageType
    /// The service that sent the request.
    package var caller: ServiceName
    /// `ok` for a reply.
    package var code: String
    /// The time from arrival to answer, in microseconds.
    package var microseconds: Int64
    /// The message ID of the request.
    package var messageID: Identifier
    /// The trace ID: 32 hexadecimal digits, the same at every hop.
    package var traceID: String
}

/// The newest answers, kept while an operator watches.
@Loop struct AnswerLog {
    private var records: [AnswerRecord] = []
    private var last: UInt64 = 0
    private var watchedUntil: UInt64 = 0

    nonisolated init() {}

    /// The most records that are kept and sent at once.
    static let capacity = 256
    /// How long records are kept after the last request for them, in nanoseconds.
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

    /// The records after a number. From now on records are kept.
    mutating func after(_ number: UInt64, at now: UInt64) -> [AnswerRecord] {
        if !isWatched(at: now) { records = [] }
        watchedUntil = now + Self.attention
        return records.filter { $0.number > number }
    }
}

/// The body of a PING: the sender's questions besides the state. A heartbeat has no body. Only operators and gateways
/// get answers to them.
struct PingBody: Codable, Sendable, Equatable {
    var wantsReport = false
    /// The number of the last ``AnswerRecord`` that the sender has; 0 for none.
    var answersAfter: UInt64?
}
