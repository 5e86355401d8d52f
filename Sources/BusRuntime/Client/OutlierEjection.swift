/// Whether a replica that is connected, and answers PINGs, answers what it is asked; otherwise it stands aside for a while.
struct OutlierEjection {
    /// Calls in a row without an answer in time, or in flight while none is answered, after which it stands aside.
    static let limit = 5
    /// How long nothing is answered in the second case, and how long it stands aside. Nanoseconds, as all times here.
    static let silence: UInt64 = 800_000_000
    static let aside: UInt64 = 2_000_000_000

    private var missedInARow = 0
    private var lastAnswer: UInt64 = 0
    private var asideUntil: UInt64 = 0
    /// Times that it was put aside.
    private(set) var ejections = 0

    func isAside(at now: UInt64) -> Bool { asideUntil > now }

    /// It is asked, with nothing else in flight: its silence is counted from here.
    mutating func beginsWork(at now: UInt64) { lastAnswer = now }

    mutating func answered(at now: UInt64) { (missedInARow, lastAnswer) = (0, now) }

    /// A call was not answered in time.
    mutating func missed(at now: UInt64) {
        missedInARow += 1
        guard missedInARow >= Self.limit else { return }
        stepAside(at: now)
    }

    /// Calls with long deadlines would not be missed for as long: a replica that holds several and answers none is out
    /// within a second. One that is asked little and takes its time (a long poll) is not meant.
    mutating func look(inFlight: Int, at now: UInt64) {
        guard inFlight >= Self.limit, now > lastAnswer + Self.silence else { return }
        stepAside(at: now)
    }

    private mutating func stepAside(at now: UInt64) {
        if !isAside(at: now) { ejections += 1 }
        (missedInARow, asideUntil) = (0, now + Self.aside)
    }
}
