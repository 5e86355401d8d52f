import CPostgres

/// Why a connection could not be made, or broke, in words that may be logged: libpq's own messages may have parts of a
/// connection string or of a failed statement in them.
enum ConnectionFailure {
    /// What libpq puts before the words of the system, of the server and of TLS.
    private static let prefixes = [
        "failed: FATAL:  ", "failed: ", "could not receive data from server: ", "could not send data to server: ",
        "could not translate host name ",
    ]
    private static let closed = "server closed the connection unexpectedly"
    private static let mostCharacters = 200

    /// - Parameter message: of `PQerrorMessage`.
    /// - Returns: the last reason in it that is known to be one, in a line.
    static func reason(_ message: String) -> String {
        for line in message.split(separator: "\n").reversed() {
            for prefix in prefixes {
                guard let range = line.firstRange(of: prefix) else { continue }
                return String(line[range.upperBound...].prefix(mostCharacters))
            }
            if line.contains(closed) { return closed }
        }
        return "the connection string cannot be used, or libpq gave no reason"
    }
}

/// The SQLSTATE with which a server ends a connection: it comes as a notice where nobody waits for an answer.
///
/// Touched on the loop only: libpq calls the receiver from within calls that the loop makes.
final class Farewell: @unchecked Sendable {
    private(set) var sqlState: String?

    func listen(to connection: OpaquePointer?) {
        PQsetNoticeReceiver(
            connection,
            { box, result in
                if let box { Unmanaged<Farewell>.fromOpaque(box).takeUnretainedValue().hear(result) }
            },
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// - Parameter result: of any command, or a notice; only what ends the connection is kept.
    func hear(_ result: OpaquePointer?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        // PG_DIAG_SEVERITY_NONLOCALIZED
        guard field(Int32(UInt8(ascii: "V"))) == "FATAL" else { return }
        sqlState = field(CPostgres_diagSQLState())
    }
}
