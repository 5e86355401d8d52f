import BusProtocol
import BusRuntime
import EventLoop

/// Counts the responses of this gateway by method, route and status.
@Loop final class HTTPMeter {
    struct Line: Hashable, Sendable {
        /// The method, or `other` if this API has no such method: a client can send any word.
        let method: String
        /// The path template of the route, or `none` if no route matches.
        let route: String
    }
    struct Answers: Sendable {
        private(set) var byStatus: [Int: Int] = [:]
        private(set) var took = Histogram()

        mutating func note(_ record: RequestRecord) {
            byStatus[record.status, default: 0] += 1
            if let began = record.began { took.note(nanoseconds: MonotonicClock.now() - began) }
        }
    }

    private(set) var lines: [Line: Answers] = [:]

    func note(_ record: RequestRecord) {
        let method = record.method.flatMap { HTTPRoute.Method(rawValue: $0)?.rawValue } ?? "other"
        lines[Line(method: method, route: record.route ?? "none"), default: Answers()].note(record)
    }
}
