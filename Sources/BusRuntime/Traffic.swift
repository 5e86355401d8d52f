import BusProtocol
import EventLoop

/// What became of the messages of one version of a type between this process and one other service.
public struct Traffic: Codable, Sendable, Equatable {
    /// As `auth.send-otp/v1`; `unknown` for all those that have no handler, whose names are without number.
    public let message: String
    /// Who asked, or who was asked.
    public let partner: ServiceName
    public internal(set) var inFlight = 0
    /// How many ended, by code; `ok` for a reply, `cancelled` where nobody waited any more.
    public internal(set) var ended: [String: Int] = [:]
    /// From arrival to the answer, or from the call to its end; with all attempts. What was refused at its arrival is not
    /// in it.
    public internal(set) var took = Histogram()
    /// Of that, before the handler began, or before a replica was given the call first.
    public internal(set) var waited = Histogram()
    /// Attempts beyond the first; of calls only.
    public internal(set) var retries = 0
    /// Ended as overloaded: too much waited here, or for something that is needed behind it.
    public internal(set) var shed = 0

    /// Of a message of which nothing was seen yet.
    public init(message: String, partner: ServiceName) { (self.message, self.partner) = (message, partner) }

    /// Whether the times say nothing of how fast the service is.
    public var isLongPoll: Bool { Self.longPolls.contains(message) }
    private static let longPolls = Set(
        Catalogue.all.filter { $0.rules.isLongPoll }.map { "\($0.type)/v\($0.version)" })

    public var succeeded: Int { ended["ok"] ?? 0 }
    public var failed: Int { ended.reduce(0) { $0 + ($1.key == "ok" ? 0 : $1.value) } }

    /// The same message and partner, as two processes saw it.
    public func adding(_ other: Traffic) -> Traffic {
        var sum = self
        sum.inFlight += other.inFlight
        sum.ended.merge(other.ended, uniquingKeysWith: +)
        (sum.took, sum.waited) = (took.adding(other.took), waited.adding(other.waited))
        sum.retries += other.retries
        sum.shed += other.shed
        return sum
    }
}

/// Counts the messages of one version of a type between this process and one other service.
@Loop final class TrafficMeter {
    private var counted: Traffic
    /// Apart from the other codes: it is by far the most frequent.
    private var succeeded = 0

    init(_ message: String, _ partner: ServiceName) { counted = Traffic(message: message, partner: partner) }

    var partner: ServiceName { counted.partner }

    var traffic: Traffic {
        var traffic = counted
        if succeeded > 0 { traffic.ended["ok"] = succeeded }
        return traffic
    }

    /// Refused at its arrival, or ended with an error.
    func refuse(_ code: String) {
        counted.ended[code, default: 0] += 1
        if code == ErrorCode.overloaded.name { counted.shed += 1 }
    }

    func arrive() { counted.inFlight += 1 }

    func begin(afterNanoseconds waited: UInt64) { counted.waited.note(nanoseconds: waited) }

    func retry() { counted.retries += 1 }

    /// What has arrived ends, once.
    ///
    /// - Parameter code: `nil` for a reply.
    func end(_ code: String?, afterNanoseconds took: UInt64) {
        counted.inFlight -= 1
        counted.took.note(nanoseconds: took)
        if let code { refuse(code) } else { succeeded += 1 }
    }
}
