import CPostgres

/// Why a connection failed, in words that may be logged. libpq's own messages may contain parts of a connection string
/// or of a statement.
enum ConnectionFailure {
    /// The texts that libpq writes before the message of the system, of the server or of TLS.
    private static let prefixes = [
        "failed: FATAL:  ", "failed: ", "could not receive data from server: ", "could not send data to server: ",
        "could not translate host name ",
    ]
    private static let closed = "server closed the connection unexpectedly"
    private static let mostCharacters = 200

    /// - Parameter message: the text of `PQerrorMessage`.
    /// - Returns: the last known reason in the message, in one line.
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

/// The notices of a server. They tell why the server ends a connection, and that a standby did not confirm a commit.
///
/// Only the loop uses this object: libpq calls the receiver during calls from the loop.
final class ServerNotices: @unchecked Sendable {
    /// The SQLSTATE with which the server ends the connection.
    private(set) var farewell: String?
    /// Whether this server alone has committed a transaction since the last look. That happens if the wait for the
    /// synchronous standby was cancelled. If the standby takes over, the transaction may be lost.
    private var isUnconfirmed = false

    func listen(to connection: OpaquePointer?) {
        PQsetNoticeReceiver(
            connection,
            { box, result in
                if let box { Unmanaged<ServerNotices>.fromOpaque(box).takeUnretainedValue().hear(result) }
            },
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// - Parameter result: a notice, or the result of a command that failed.
    func hear(_ result: OpaquePointer?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        // PG_DIAG_SEVERITY_NONLOCALIZED
        switch field(Int32(UInt8(ascii: "V"))) {
        case "FATAL": farewell = field(CPostgres_diagSQLState())
        // PG_DIAG_SOURCE_FUNCTION. The SQLSTATE is that of any warning. Source: PostgreSQL 15, syncrep.c.
        case "WARNING": if field(Int32(UInt8(ascii: "R"))) == "SyncRepWaitForLSN" { isUnconfirmed = true }
        default: break
        }
    }

    /// Whether every commit since the last call has the durability that the server was configured for.
    func areCommitsConfirmed() -> Bool {
        defer { isUnconfirmed = false }
        return !isUnconfirmed
    }
}
