import BusProtocol
import Database
import EventLoop

/// Rows of nonces for social sign-ins.
@Loop enum NonceStore {
    static func insert(
        _ hash: [UInt8], for provider: IdentityProviderName, seconds: Int64, in transaction: Transaction
    ) {
        transaction.send(insert, [.bytes(hash), .text(provider.rawValue), .integer(seconds)])
    }

    /// Uses up a nonce. Of two simultaneous calls, the second waits and finds none.
    ///
    /// - Returns: the time by the database's clock; `nil` if the nonce was never issued, was used before, or expired.
    static func spend(
        _ hash: [UInt8], of provider: IdentityProviderName, in transaction: Transaction
    ) async throws -> Timestamp? {
        try await transaction.query(spend, [.bytes(hash), .text(provider.rawValue)]).first?.timestamp("now")
    }

    private static let insert: Statement = """
        INSERT INTO social_nonces (hash, provider, expires_at)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s')
        """
    private static let spend: Statement = """
        DELETE FROM social_nonces WHERE hash = $1 AND provider = $2 AND expires_at > clock_timestamp()
        RETURNING clock_timestamp() AS now
        """
}
