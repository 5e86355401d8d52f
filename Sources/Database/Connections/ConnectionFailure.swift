import CPostgres

/// Why a connection failed, in words that may be logged. libpq's own messages may contain parts of a connection string
/// or of a statement.
enum ConnectionFailure {
    /// What libpq writes before the message of the system, of the server or of TLS.
    private static let prefixes = [
        "failed: FATAL:  ", "failed: ", "could not receive data from server: ", "could not send data to server: ",
        "could not translate host name ",
    ]
    private static let closed = "server closed the connection unexpectedly"
    private static let mostCharacters = 200

    /// - Parameter message: the text of `PQerrorMessage`.
    /// - Returns: the last reason in it that is known, in one line.
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

/// The SQLSTATE with which a server ends a connection. It arrives as a notice if no answer is pending.
///
/// It is used on the loop only: libpq calls the receiver during calls from the loop.
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

    /// - Parameter result: the result of any command, or a notice. Only one that ends the connection is kept.
    func hear(_ result: OpaquePointer?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        // PG_DIAG_SEVERITY_NONLOCALIZED
        guard field(Int32(UInt8(ascii: "V"))) == "FATAL" else { return }
        sqlState = field(CPostgres_diagSQLState())
    }
}
