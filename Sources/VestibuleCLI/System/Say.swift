import Foundation

/// Writes one line unbuffered, to standard output or to standard error (2).
func say(_ line: String, to descriptor: Int32 = 1) {
    let bytes = Array((line + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
}
