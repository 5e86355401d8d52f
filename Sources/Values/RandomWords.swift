import Glibc
import Synchronization

/// The system's random words, fetched 32 at a time.
///
/// A request makes several identifiers, and a system call costs more than all of them.
struct RandomWords: RandomNumberGenerator {
    private struct Pool: Sendable {
        var words = [UInt64](repeating: 0, count: 32)
        var left = 0
    }

    private static let pool = Mutex(Pool())

    mutating func next() -> UInt64 {
        Self.pool.withLock { pool in
            if pool.left == 0 {
                pool.words.withUnsafeMutableBytes { Self.fill($0) }
                pool.left = pool.words.count
            }
            pool.left -= 1
            // Clear the word that is handed out, so that it does not stay in memory.
            defer { pool.words[pool.left] = 0 }
            return pool.words[pool.left]
        }
    }

    /// Fills at most 256 bytes. Up to that number the system never returns fewer.
    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        precondition(getentropy(bytes.baseAddress, bytes.count) == 0, "the system gives no random bytes")
    }
}
