/// Judges overload by how long requests wait in a queue, and says which of them are let in. It has no clock.
///
/// A queue is overloaded once every request of a whole interval waited for longer than the target: a burst that is
/// worked off sooner is no overload. From then on a request is refused where so many stand before it that it would wait
/// for longer than the target, and one whose turn comes after twice the target all the same is refused then. It ends with
/// an interval in which nothing was refused.
///
/// - Source: K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012 (the shortest wait of an
///   interval of 100 ms), and B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015 (the same before servers). The target is
///   20 ms in place of their 5 ms: a loop that takes turns of some milliseconds is not overloaded.
struct AdmissionController {
    /// Nanoseconds, as all times here.
    static let target: UInt64 = 20_000_000
    static let interval: UInt64 = 100_000_000

    private var overloadedUntil: UInt64 = 0
    /// Time that the queue takes to move on by one, averaged over about eight requests.
    private var pace: UInt64 = 0
    private var intervalEnd: UInt64 = 0
    private var shortestWait: UInt64 = 0

    func isOverloaded(at now: UInt64) -> Bool { now < overloadedUntil }

    /// Whether a request that arrives is let in.
    ///
    /// - Parameter ahead: how many wait before it.
    mutating func admits(behind ahead: Int, at now: UInt64) -> Bool {
        isOverloaded(at: now) && UInt64(ahead) * pace > Self.target ? refuse(at: now) : true
    }

    /// A request's turn has come.
    ///
    /// - Parameters:
    ///   - wait: since it arrived.
    ///   - ahead: how many waited before it then.
    /// - Returns: whether it is begun; otherwise it is refused.
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
