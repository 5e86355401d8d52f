/// Detects that the process was paused: the clock advanced and the loop did not run.
struct PauseDetector {
    /// The least pause that counts, in nanoseconds. A running loop checks the clock at least every 100 ms.
    static let limit: UInt64 = 250_000_000

    private var lastLook: UInt64

    init(at now: UInt64) { lastLook = now }

    /// - Returns: whether the process was paused since the last check.
    mutating func look(at now: UInt64) -> Bool {
        defer { lastLook = now }
        return now > lastLook + Self.limit
    }
}
