/// Outlier ejection: a replica that is connected and answers PINGs, but not requests, gets no requests for a while.
struct OutlierEjection {
    /// A replica is ejected after this many calls in a row time out. It is also ejected if it has this many calls in
    /// flight and answers none.
    static let limit = 5
    /// How long the replica must answer nothing in the second case. In nanoseconds, as all times here.
    static let silence: UInt64 = 800_000_000
    /// How long an ejection lasts.
    static let aside: UInt64 = 2_000_000_000

    private var missedInARow = 0
    private var lastAnswer: UInt64 = 0
    private var asideUntil: UInt64 = 0
    /// The number of ejections.
    private(set) var ejections = 0

    func isAside(at now: UInt64) -> Bool { asideUntil > now }

    /// A request was sent while nothing else was in flight. The replica's silence counts from here.
    mutating func beginsWork(at now: UInt64) { lastAnswer = now }

    mutating func answered(at now: UInt64) { (missedInARow, lastAnswer) = (0, now) }

    /// A call timed out.
    mutating func missed(at now: UInt64) {
        missedInARow += 1
        guard missedInARow >= Self.limit else { return }
        stepAside(at: now)
    }

    /// Calls with long deadlines would time out too late. A replica that holds several calls and answers none is
    /// ejected within a second. A single slow call, such as a long poll, does not eject it.
    mutating func look(inFlight: Int, at now: UInt64) {
        guard inFlight >= Self.limit, now > lastAnswer + Self.silence else { return }
        stepAside(at: now)
    }

    private mutating func stepAside(at now: UInt64) {
        if !isAside(at: now) { ejections += 1 }
        (missedInARow, asideUntil) = (0, now + Self.aside)
    }
}
