import BusProtocol
import Database
import EventLoop

/// An account as sign-in sees it.
struct Account: Sendable {
    let id: Identifier
    let role: String
    let isNew: Bool
}

/// Rows of accounts, devices and sessions.
@Loop enum AccountStore {
    static func account(phone: [UInt8], in transaction: Transaction) async throws -> Account? {
        guard let row = try await transaction.query(byPhone, [.bytes(phone)]).first else { return nil }
        guard try row.text("status") == "active" else {
            throw BusError(.forbidden, "This account is not available. Please contact support.")
        }
        return Account(id: try row.uuid("id"), role: try row.text("role"), isNew: false)
    }

    /// The account that a claim may reach; one that is closed is none, and cannot be told from none.
    static func reachable(phone: [UInt8], in transaction: Transaction) async throws -> Identifier? {
        guard let row = try await transaction.query(byPhone, [.bytes(phone)]).first,
            try row.text("status") == "active"
        else { return nil }
        return try row.uuid("id")
    }

    /// The account of a phone, made where there is none. Two at once make one.
    static func ensure(
        phone: [UInt8], keyID: String, seal: (Identifier) -> [UInt8], in transaction: Transaction
    ) async throws -> Account {
        // Codes of two challenges may be right at the same moment: the second waits here and finds the account.
        transaction.send("SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 1))", [.bytes(phone)])
        if let known = try await account(phone: phone, in: transaction) { return known }
        let id = Identifier.random()
        transaction.send("INSERT INTO accounts (id) VALUES ($1)", [.uuid(id)])
        _ = try await transaction.query(insertPhone, [.bytes(phone), .text(keyID), .uuid(id), .bytes(seal(id))])
        return Account(id: id, role: "user", isNew: true)
    }

    /// The hash of a device's secret, where the device is the person's.
    static func secretHash(of device: Identifier, person: Identifier, in transaction: Transaction) async throws
        -> [UInt8]?
    {
        try await transaction.query(
            "SELECT secret_hash FROM devices WHERE id = $1 AND person_id = $2", [.uuid(device), .uuid(person)]
        ).first?.bytes("secret_hash")
    }

    static func insertDevice(
        _ id: Identifier, person: Identifier, secret: [UInt8], claim: DeviceClaim, push: [UInt8]?,
        in transaction: Transaction
    ) {
        transaction.send(
            insertDevice,
            [.uuid(id), .uuid(person), .bytes(secret), .text(claim.name), .text(claim.platform), .bytes(push)])
    }

    static func touchDevice(_ id: Identifier, claim: DeviceClaim, push: [UInt8]?, in transaction: Transaction) {
        transaction.send(touchDevice, [.uuid(id), .text(claim.name), .text(claim.platform), .bytes(push)])
    }

    static func insertSession(
        _ id: Identifier, person: Identifier, device: Identifier, refresh: [UInt8], in transaction: Transaction
    ) {
        transaction.send(
            "INSERT INTO sessions (id, person_id, device_id) VALUES ($1, $2, $3)",
            [.uuid(id), .uuid(person), .uuid(device)])
        insertRefreshToken(refresh, session: id, generation: 1, in: transaction)
    }

    static func insertRefreshToken(
        _ hash: [UInt8], session: Identifier, generation: Int64, in transaction: Transaction
    ) {
        transaction.send(
            "INSERT INTO refresh_tokens (hash, session_id, generation) VALUES ($1, $2, $3)",
            [.bytes(hash), .uuid(session), .integer(generation)])
    }

    /// Ends a session and tells the gateways.
    static func revoke(session: Identifier, in transaction: Transaction) {
        transaction.send(
            "UPDATE sessions SET revoked_at = clock_timestamp() WHERE id = $1 AND revoked_at IS NULL", [.uuid(session)])
        transaction.send(
            revokeEntry, [.uuid(session), .integer(AccessTokenIssuer.lifetime + 60)])
    }

    private static let byPhone: Statement = """
        SELECT a.id, a.role, a.status FROM phones p JOIN accounts a ON a.id = p.person_id WHERE p.hash = $1
        """
    private static let insertPhone: Statement = """
        INSERT INTO phones (hash, key_id, person_id, sealed) VALUES ($1, $2, $3, $4) RETURNING person_id
        """
    private static let insertDevice: Statement = """
        INSERT INTO devices (id, person_id, secret_hash, name, platform, push_token_sealed) VALUES ($1, $2, $3, $4, $5, $6)
        """
    private static let touchDevice: Statement = """
        UPDATE devices SET name = $2, platform = $3, push_token_sealed = coalesce($4, push_token_sealed),
            last_used_at = clock_timestamp()
        WHERE id = $1
        """
    private static let revokeEntry: Statement = """
        INSERT INTO revocations (session_id, forget_at) VALUES ($1, clock_timestamp() + $2::bigint * interval '1 s')
        """
}
