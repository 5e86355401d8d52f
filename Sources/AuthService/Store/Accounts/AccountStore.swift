import BusProtocol
import Database
import EventLoop

/// An account that is locked until the transaction ends.
struct StoredAccount: Sendable {
    let id: Identifier
    let role: Role
    let isActive: Bool
    /// The sealed key of its pseudonym; `nil` if it has none.
    let keySealed: [UInt8]?
}

/// Rows of accounts, and of the phones and email addresses that find them.
@Loop enum AccountStore {
    /// Two statements that select the row of one account, `a`, by a key.
    struct Search: Sendable {
        let find: Statement
        let lock: Statement

        init(_ sql: String) { (find, lock) = (Statement(sql), Statement("\(sql) FOR NO KEY UPDATE OF a")) }
    }

    /// Finds the account of a sign-in, locks it until the transaction ends, and reads it again behind the lock. So the
    /// sign-in sees each earlier change of the number, identities, role or sessions. Each later change finds the new
    /// session.
    static func locked(
        _ search: Search, _ key: SQLValue, in transaction: Transaction
    ) async throws -> StoredAccount? {
        // Usually one round. Another is needed if the key moved to another account during the wait.
        for _ in 0..<4 {
            let (locked, found) = try await transaction.query(search.lock, [key], then: search.find, [key])
            guard let row = found.first else { return nil }
            let id = try row.uuid("id")
            if try locked.first?.uuid("id") == id {
                return StoredAccount(
                    id: id, role: Role(rawValue: try row.text("role")), isActive: try isActive(row),
                    keySealed: try row.optionalBytes("key_sealed"))
            }
        }
        throw DatabaseError.aborted
    }

    private static func isActive(_ row: Row) throws -> Bool {
        SuspensionPolicy.Status(rawValue: try row.text("status")) == .active
    }

    /// Locks a number until the transaction ends, after a sign-up with it that is under way.
    static func lock(phone: ContactHashes, in transaction: Transaction) {
        lock(lasting: phone.lasting, in: transaction)
    }

    /// - Parameter hash: the number's lasting hash.
    static func lock(lasting hash: [UInt8], in transaction: Transaction) {
        transaction.send(lockNumber, [.bytes(hash)])
    }
    private static let lockNumber = Statement("SELECT \(AdvisoryLock.number.wait(for: "encode($1, 'hex')"))")

    /// Locks an account until the transaction ends.
    static func lock(_ person: Identifier, in transaction: Transaction) {
        transaction.send("SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [.uuid(person)])
    }

    /// Locks the account that has a number, if there is one, until the transaction ends.
    static func lock(holderOf phone: ContactHashes, in transaction: Transaction) {
        transaction.send(lockHolder, [phone.sought])
    }

    /// The status and the role of an account; `nil` if there is none or it was deleted.
    static func status(
        of person: Identifier, in transaction: Transaction
    ) async throws -> (status: SuspensionPolicy.Status, role: Role)? {
        guard
            let row = try await transaction.query(
                "SELECT status, role FROM accounts WHERE id = $1", [.uuid(person)]
            ).first, let status = SuspensionPolicy.Status(rawValue: try row.text("status"))
        else { return nil }
        return (status, Role(rawValue: try row.text("role")))
    }

    /// For staff: the person who has a number now. Former numbers do not count.
    static func found(byPhone phone: ContactHashes, in transaction: Transaction) async throws -> FoundPerson? {
        try await transaction.query(foundByPhone, [phone.sought]).first.map(found)
    }

    static func found(byID person: Identifier, in transaction: Transaction) async throws -> FoundPerson? {
        try await transaction.query(foundByID, [.uuid(person)]).first.map(found)
    }

    private static func found(_ row: Row) throws -> FoundPerson {
        FoundPerson(
            personId: try row.uuid("id"), status: try row.text("status"), role: Role(rawValue: try row.text("role")),
            createdAt: try row.timestamp("created_at"))
    }

    private static let isOfNumber = ContactHashes.found("p", by: "$1")
    private static let foundByPhone = Statement(
        """
        SELECT a.id, a.status, a.role, a.created_at FROM phones p JOIN accounts a ON a.id = p.person_id
        WHERE \(isOfNumber)
        """)
    private static let foundByID: Statement = "SELECT id, status, role, created_at FROM accounts WHERE id = $1"

    static func set(_ status: SuspensionPolicy.Status, of person: Identifier, in transaction: Transaction) {
        transaction.send("UPDATE accounts SET status = $2 WHERE id = $1", [.uuid(person), .text(status.rawValue)])
    }

    /// The contact or identity by which a claim names an account.
    enum LoginIdentifier: Sendable {
        case contact(Contact.Kind, ContactHashes)
        /// The hash of an identity.
        case identity([UInt8])

        /// The hash under the permanent key.
        var lasting: [UInt8] {
            switch self {
            case .contact(_, let hashes): hashes.lasting
            case .identity(let hash): hash
            }
        }
    }

    /// The account that a contact or identity names; `nil` if there is none. A former number names its account while no
    /// other account has the number.
    ///
    /// The account is locked until the transaction ends, so that a later change of it sees the freeze.
    static func named(
        by sought: LoginIdentifier, in transaction: Transaction
    ) async throws -> (person: Identifier, isActive: Bool)? {
        var rows: [Row]
        switch sought {
        case .contact(let kind, let hashes):
            rows = try await transaction.query(locked(by: kind), [hashes.sought])
            if rows.isEmpty, kind == .phone { rows = try await transaction.query(lockedByAlias, [hashes.sought]) }
        case .identity(let hash): rows = try await transaction.query(lockedByIdentity, [.bytes(hash)])
        }
        return try rows.first.map { (try $0.uuid("id"), try isActive($0)) }
    }

    /// The person who has a number or an address. Waits for a sign-up with it that is under way.
    static func owner(
        _ kind: Contact.Kind, _ contact: ContactHashes, in transaction: Transaction
    ) async throws -> Identifier? {
        guard kind == .email else { return try await PhoneStore.owner(of: contact, in: transaction) }
        lock(lasting: contact.lasting, in: transaction)
        return try await EmailStore.owner(of: contact, in: transaction)
    }

    /// The person who has a number or an address. Locks nothing.
    static func holder(
        _ kind: Contact.Kind, _ contact: ContactHashes, in transaction: Transaction
    ) async throws -> Identifier? {
        try await transaction.query(of(kind).find, [contact.sought]).first?.uuid("id")
    }

    /// Adds an account. The caller adds a way in.
    static func insert(_ id: Identifier, in transaction: Transaction) {
        transaction.send("INSERT INTO accounts (id) VALUES ($1)", [.uuid(id)])
    }

    /// Adds a number or an address, sealed for the account, to an account without one.
    static func insert(
        _ kind: Contact.Kind, _ contact: ContactHashes, of person: Identifier, sealed: [UInt8],
        in transaction: Transaction
    ) async throws {
        _ = try await transaction.query(insert(kind), contact.row + [.uuid(person), .bytes(sealed)])
    }

    /// The account with an id, locked until the transaction ends; `nil` if there is none.
    static func account(_ person: Identifier, in transaction: Transaction) async throws -> StoredAccount? {
        try await locked(ofID, .uuid(person), in: transaction)
    }

    /// The account of a number or an address, locked until the transaction ends; `nil` if there is none. A sign-up
    /// with the contact waits.
    static func known(
        _ kind: Contact.Kind, _ contact: ContactHashes, in transaction: Transaction
    ) async throws -> StoredAccount? {
        lock(lasting: contact.lasting, in: transaction)
        return try await locked(of(kind), contact.sought, in: transaction)
    }

    private static func of(_ kind: Contact.Kind) -> Search { kind == .phone ? ofPhone : ofEmail }
    private static let ofPhone = search(.phone)
    private static let ofEmail = search(.email)
    private static func search(_ kind: Contact.Kind) -> Search {
        Search(
            """
            SELECT a.id, a.role, a.status, n.key_sealed
            FROM \(kind.table) p JOIN accounts a ON a.id = p.person_id LEFT JOIN pseudonyms n ON n.person_id = a.id
            WHERE \(isOfNumber)
            """)
    }
    private static let ofID = Search(
        """
        SELECT a.id, a.role, a.status, n.key_sealed
        FROM accounts a LEFT JOIN pseudonyms n ON n.person_id = a.id WHERE a.id = $1
        """)
    private static let lockHolder = Statement(
        """
        SELECT a.id FROM accounts a JOIN phones p ON p.person_id = a.id WHERE \(isOfNumber) FOR NO KEY UPDATE OF a
        """)
    private static func locked(by kind: Contact.Kind) -> Statement {
        Statement(
            """
            SELECT a.id, a.status FROM accounts a JOIN \(kind.table) p ON p.person_id = a.id
            WHERE \(isOfNumber) FOR SHARE OF a, p
            """)
    }
    private static let lockedByIdentity: Statement = """
        SELECT a.id, a.status FROM accounts a JOIN identities i ON i.person_id = a.id
        WHERE i.hash = $1 AND i.to_confirm_since IS NULL FOR SHARE OF a, i
        """
    private static let lockedByAlias = Statement(
        """
        SELECT a.id, a.status FROM accounts a JOIN phone_aliases p ON p.person_id = a.id
        WHERE \(isOfNumber) AND p.until > clock_timestamp() ORDER BY p.taken_off_at DESC LIMIT 1 FOR SHARE OF a, p
        """)
    private static func insert(_ kind: Contact.Kind) -> Statement {
        Statement(
            """
            INSERT INTO \(kind.table) (hash, key_id, other_hash, other_key_id, person_id, sealed)
            VALUES ($1, $2, $3, $4, $5, $6) RETURNING person_id
            """)
    }
}

extension Contact.Kind {
    /// The table of the contacts of accounts.
    var table: String {
        switch self {
        case .phone: "phones"
        case .email: "emails"
        }
    }
}
