import Glibc
import Synchronization

/// Random words of the system for ids, taken thirty-two at a time: ids are made several times a request, and each system
/// call costs more than all of them.
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
            // What was given away is not kept.
            defer { pool.words[pool.left] = 0 }
            return pool.words[pool.left]
        }
    }

    /// The system gives 256 bytes at once, and never fewer.
    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        precondition(getentropy(bytes.baseAddress, bytes.count) == 0, "the system gives no random bytes")
    }
}
