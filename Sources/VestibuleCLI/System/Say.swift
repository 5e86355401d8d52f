import Foundation
import Synchronization

/// Whether a line for standard output was lost, such as on a full disk.
let outputIsLost = Atomic(false)

/// Writes one line unbuffered, to standard output or to standard error (2).
func say(_ line: String, to descriptor: Int32 = 1) {
    var left = Array((line + "\n").utf8)[...]
    while !left.isEmpty {
        let count = left.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 || errno == EINTR else {
            // A reader such as `head` may stop before the end.
            if descriptor == 1, errno != EPIPE { outputIsLost.store(true, ordering: .relaxed) }
            return
        }
        left = left.dropFirst(max(count, 0))
    }
}
