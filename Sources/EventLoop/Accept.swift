import CLinux
import Glibc

/// Accepts a connection as a non-blocking socket that is closed on exec, in one system call (`accept4`).
///
/// - Parameters:
///   - listener: the descriptor of a listening socket.
///   - address: is set to the address of the other end.
///   - length: the space for the address in bytes. It is set to the address's own length.
/// - Returns: the connection's descriptor, or -1 with `errno` set.
package func acceptWithoutBlocking(
    _ listener: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: inout socklen_t
) -> Int32 {
    CLinux_accept(listener, address, &length)
}
