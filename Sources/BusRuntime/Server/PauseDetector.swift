/// Notices that the process stood still: its own clock moved on and its loop did not.
struct PauseDetector {
    /// Nanoseconds. A loop that is alive looks at its clock each 100 ms at least.
    static let limit: UInt64 = 250_000_000

    private var lastLook: UInt64

    init(at now: UInt64) { lastLook = now }

    /// - Returns: whether it stood still since the last look.
    mutating func look(at now: UInt64) -> Bool {
        defer { lastLook = now }
        return now > lastLook + Self.limit
    }
}
