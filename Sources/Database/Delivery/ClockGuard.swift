import Foundation
import Values

/// Nanoseconds since boot, including sleep. After a machine's sleep the database's clock has advanced by the same time.
enum BootClock {
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Identifies this boot of this machine; `nil` if the kernel does not give it.
    static let id: String? = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text.map { String($0.prefix { !$0.isWhitespace }) }.flatMap { $0.isEmpty ? nil : $0 }
    }()
}

/// Compares the database's clock with the boot clock, which cannot be set. So a jump of the database's clock ends no
/// hold early.
struct ClockGuard {
    /// How far the database's clock was ahead of the boot clock when both last advanced together, in microseconds.
    private var offset: Int64?
    /// The stored value of `offset`.
    private var kept: Int64?
    /// In microseconds.
    static let tolerance: Int64 = 60_000_000

    /// - Parameter offset: the stored value; `nil` if the next look sets it.
    init(offset: Int64? = nil) { (self.offset, kept) = (offset, offset) }

    var isSet: Bool { offset != nil }

    /// The value to store, if it differs by a second or more.
    mutating func offsetToKeep() -> Int64? {
        guard let offset, kept.map({ abs($0 - offset) >= 1_000_000 }) ?? true else { return nil }
        kept = offset
        return offset
    }

    /// - Returns: whether timers may fire: the clocks have advanced together since they last did.
    mutating func observe(database: Timestamp, boot: UInt64) -> Bool {
        let now = database.microsecondsSinceEpoch - Int64(boot / 1000)
        guard let known = offset else {
            offset = now
            return true
        }
        guard abs(now - known) <= Self.tolerance else { return false }
        offset = now
        return true
    }
}
