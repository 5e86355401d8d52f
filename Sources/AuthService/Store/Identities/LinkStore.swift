import BusProtocol
import Database
import EventLoop

/// The row of an identity or an email address that is linked as soon as a phone is verified.
struct PendingLink: Sendable {
    /// The hash of the link token.
    let hash: [UInt8]
    /// The hash of the identity, or the lasting hash of the address. The sealed data is bound to it.
    let identity: [UInt8]
    let sealed: [UInt8]
    let isEmail: Bool
    /// Apple's refresh token, sealed; `nil` if it has not arrived.
    let refreshSealed: [UInt8]?
}

/// Rows of link tokens. It also stores the session, link or recovery to which a challenge is bound besides its purpose.
@Loop enum LinkStore {
    static func insert(
        _ hash: [UInt8], identity: [UInt8], sealed: [UInt8], isEmail: Bool = false, seconds: Int64,
        in transaction: Transaction
    ) {
        transaction.send(
            insert, [.bytes(hash), .bytes(identity), .bytes(sealed), .integer(seconds), .bool(isEmail)])
    }

    /// The link of a token, locked until the transaction ends; `nil` if it expired or was made.
    static func pending(_ hash: [UInt8], in transaction: Transaction) async throws -> PendingLink? {
        try await transaction.query(select, [.bytes(hash)]).first.map {
            PendingLink(
                hash: hash, identity: try $0.bytes("identity_hash"), sealed: try $0.bytes("sealed"),
                isEmail: try $0.bool("is_email"),
                refreshSealed: try $0.optionalBytes("refresh_sealed"))
        }
    }

    static func remove(_ hash: [UInt8], in transaction: Transaction) {
        transaction.send("DELETE FROM link_tokens WHERE hash = $1", [.bytes(hash)])
    }

    /// Binds a challenge to a link token by its hash, to the session that requested it, or to a recovery. A recovery is
    /// given by the case to complete, the hash of the account to recover, or both.
    static func bind(
        _ challenge: Identifier, link: [UInt8]? = nil, session: Identifier? = nil, recovery: Identifier? = nil,
        account: [UInt8]? = nil, in transaction: Transaction
    ) {
        transaction.send(
            bind, [.uuid(challenge), .bytes(link), .uuid(session), .uuid(recovery), .bytes(account)])
    }

    /// The case and the account's hash that a `recovery` challenge names; each is `nil` if it names none.
    static func recovery(
        of challenge: Identifier, in transaction: Transaction
    ) async throws -> (caseID: Identifier?, account: [UInt8]?) {
        let row = try await transaction.query(
            "SELECT case_id, account_hash FROM challenge_bindings WHERE challenge_id = $1", [.uuid(challenge)]
        ).first
        return (try row?.optionalUUID("case_id"), try row?.optionalBytes("account_hash"))
    }

    /// Whether a session requested a challenge.
    static func isOf(
        _ session: Identifier, _ challenge: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        try await !transaction.query(
            "SELECT challenge_id FROM challenge_bindings WHERE challenge_id = $1 AND session_id = $2",
            [.uuid(challenge), .uuid(session)]
        ).isEmpty
    }

    private static let insert: Statement = """
        INSERT INTO link_tokens (hash, identity_hash, sealed, expires_at, is_email)
        VALUES ($1, $2, $3, clock_timestamp() + $4::bigint * interval '1 s', $5)
        """
    private static let select: Statement = """
        SELECT identity_hash, sealed, refresh_sealed, is_email FROM link_tokens
        WHERE hash = $1 AND expires_at > clock_timestamp() FOR UPDATE
        """
    private static let bind: Statement = """
        INSERT INTO challenge_bindings (challenge_id, link_hash, session_id, case_id, account_hash)
        VALUES ($1, $2, $3, $4, $5)
        """
}
