import CLinux
import Glibc

/// Accepts a connection that never blocks and is closed on exec, in one system call (`accept4`).
///
/// - Parameters:
///   - address: becomes that of the other end.
///   - length: the room for it in bytes; becomes its own.
/// - Returns: the connection's descriptor; -1 with `errno` where there is none.
public func acceptWithoutBlocking(
    _ listener: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: inout socklen_t
) -> Int32 {
    CLinux_accept(listener, address, &length)
}
