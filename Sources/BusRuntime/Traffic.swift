import BusProtocol
import EventLoop

/// The counts of one message type and version between this process and one other service.
package struct Traffic: Codable, Sendable, Equatable {
    /// The type and version, as `auth.send-otp/v1`. All messages without a handler share `unknown`, because the number
    /// of their names is unbounded.
    package let message: String
    /// The calling service, or the called service.
    package let partner: ServiceName
    /// The messages that have not ended.
    package internal(set) var inFlight = 0
    /// The number of ended messages by code: `ok` for a reply, `cancelled` if the caller no longer waited.
    package internal(set) var ended: [String: Int] = [:]
    /// The time from arrival to the answer, or from the call to its end with all attempts. Requests that were refused
    /// on arrival are not included.
    package internal(set) var took = Histogram()
    /// The part of that time before the handler started, or before the call was first sent to a replica.
    package internal(set) var waited = Histogram()
    /// The attempts after the first; for calls only.
    package internal(set) var retries = 0
    /// The messages that ended as overloaded, here or in a service that is needed to answer.
    package internal(set) var shed = 0

    /// Makes counts of zero.
    package init(message: String, partner: ServiceName) { (self.message, self.partner) = (message, partner) }

    /// Whether the times do not show how fast the service is.
    package var isLongPoll: Bool { Self.longPolls.contains(message) }
    private static let longPolls = Set(
        MessageCatalogue.all.filter { $0.rules.isLongPoll }.map { "\($0.type)/v\($0.version)" })

    /// The messages that ended with a reply.
    package var succeeded: Int { ended["ok"] ?? 0 }
    /// The messages that ended without a reply.
    package var failed: Int { ended.reduce(0) { $0 + ($1.key == "ok" ? 0 : $1.value) } }

    /// The sum of two processes' counts for the same message and service.
    package func adding(_ other: Traffic) -> Traffic {
        var sum = self
        sum.inFlight += other.inFlight
        sum.ended.merge(other.ended, uniquingKeysWith: +)
        (sum.took, sum.waited) = (took.adding(other.took), waited.adding(other.waited))
        sum.retries += other.retries
        sum.shed += other.shed
        return sum
    }
}

/// Counts the messages of one type and version between this process and one other service.
@Loop final class TrafficMeter {
    private var counted: Traffic
    /// Counted apart from the other codes, because it is by far the most frequent.
    private var succeeded = 0

    init(_ message: String, _ partner: ServiceName) { counted = Traffic(message: message, partner: partner) }

    var partner: ServiceName { counted.partner }

    var traffic: Traffic {
        var traffic = counted
        if succeeded > 0 { traffic.ended["ok"] = succeeded }
        return traffic
    }

    /// A request was refused on arrival, or a call ended with an error.
    func refuse(_ code: String) {
        counted.ended[code, default: 0] += 1
        if code == ErrorCode.overloaded.name { counted.shed += 1 }
    }

    func arrive() { counted.inFlight += 1 }

    func begin(afterNanoseconds waited: UInt64) { counted.waited.note(nanoseconds: waited) }

    func retry() { counted.retries += 1 }

    /// Counts the end of a request, once.
    ///
    /// - Parameter code: `nil` for a reply.
    func end(_ code: String?, afterNanoseconds took: UInt64) {
        counted.inFlight -= 1
        counted.took.note(nanoseconds: took)
        if let code { refuse(code) } else { succeeded += 1 }
    }
}
