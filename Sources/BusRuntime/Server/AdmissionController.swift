/// Detects overload by how long requests wait in a queue, and decides which of them are admitted. It has no clock.
///
/// A queue is overloaded once every request of a whole interval waited longer than the target. A burst that is
/// processed sooner is no overload.
///
/// During overload, a request is refused on arrival if the requests before it would make it wait longer than the
/// target. A request that waited longer than twice the target is refused when its turn comes. Overload ends with an
/// interval in which nothing was refused.
///
/// - Source: K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012 (the shortest wait of an
///   interval of 100 ms), and B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015 (the same in front of servers). The
///   target is 20 ms instead of their 5 ms, because a turn of the loop may take some milliseconds without overload.
struct AdmissionController {
    /// In nanoseconds, as all times here.
    static let target: UInt64 = 20_000_000
    static let interval: UInt64 = 100_000_000

    private var overloadedUntil: UInt64 = 0
    /// The time in which one request leaves the queue, averaged over about eight requests.
    private var pace: UInt64 = 0
    private var intervalEnd: UInt64 = 0
    private var shortestWait: UInt64 = 0

    func isOverloaded(at now: UInt64) -> Bool { now < overloadedUntil }

    /// Whether an arriving request is admitted.
    ///
    /// - Parameter ahead: the number of requests that wait before it.
    mutating func admits(behind ahead: Int, at now: UInt64) -> Bool {
        isOverloaded(at: now) && UInt64(ahead) * pace > Self.target ? refuse(at: now) : true
    }

    /// A request's turn has come.
    ///
    /// - Parameters:
    ///   - wait: the time since it arrived.
    ///   - ahead: the number of requests that waited before it when it arrived.
    /// - Returns: whether to start it. Otherwise it is refused.
    mutating func begins(after wait: UInt64, behind ahead: Int, at now: UInt64) -> Bool {
        pace = (pace * 7 + wait / UInt64(ahead + 1)) / 8
        if now >= intervalEnd {
            if min(wait, shortestWait) > Self.target { overloadedUntil = now + Self.interval }
            (intervalEnd, shortestWait) = (now + Self.interval, wait)
        } else {
            shortestWait = min(shortestWait, wait)
        }
        return isOverloaded(at: now) && wait > 2 * Self.target ? refuse(at: now) : true
    }

    /// - Returns: false.
    private mutating func refuse(at now: UInt64) -> Bool {
        overloadedUntil = now + Self.interval
        return false
    }
}
