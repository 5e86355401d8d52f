import BusProtocol
import Cryptography
import Database
import EventLoop

/// Deletes everything that auth has about a person.
@Loop struct AccountEraser {
    let secrets: Secrets

    /// Locks the person's number, email address and account until the transaction ends. Sign-ins with them wait, and so
    /// does everything else that adds to the account.
    func lock(_ person: Identifier, in transaction: Transaction) async throws {
        // Sorted, as a deadlock needs two orders.
        let hashes = try await contacts(Self.present, of: person, in: transaction)
        for hash in hashes.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            AccountStore.lock(lasting: hash, in: transaction)
        }
        transaction.send("SELECT id FROM accounts WHERE id = $1 FOR UPDATE", [.uuid(person)])
    }

    /// Deletes the rows of a person. Codes that were sent to their numbers and address still count: otherwise repeated sign-up and
    /// deletion would get codes without limit.
    ///
    /// The challenges get another hash, and lose the contact and the code. Housekeeping deletes them after a day. The
    /// same holds for codes that the person requested for a change of the number or the address.
    func erase(_ person: Identifier, in transaction: Transaction) async throws {
        let wanted = try await transaction.query(Self.wanted, [.uuid(person)])
        let contacts = try await contacts(Self.all, of: person, in: transaction)
        for row in wanted {
            let (id, contact) = (try row.uuid("id"), try row.bytes("phone_hash"))
            transaction.send(Self.bare("id = $1"), [.uuid(id), .bytes(secrets.limitHash.code(for: contact))])
        }
        for contact in contacts {
            let values: [SQLValue] = [.bytes(contact), .bytes(secrets.limitHash.code(for: contact))]
            for statement in Self.limits { transaction.send(statement, values) }
            transaction.send(Self.claims, [.bytes(contact)])
            transaction.send("DELETE FROM link_tokens WHERE identity_hash = $1", [.bytes(contact)])
        }
        try await FreezeStore.forget(person, secrets.freezeSealer, in: transaction)
        for statement in Self.statements { transaction.send(statement, [.uuid(person)]) }
    }

    /// The lasting hashes of a person's numbers and address. If one cannot be opened, the row's hash is used, so that
    /// the person is erased all the same. It equals the lasting hash unless the look-up key was replaced.
    private func contacts(
        _ which: Statement, of person: Identifier, in transaction: Transaction
    ) async throws -> [[UInt8]] {
        try await transaction.query(which, [.uuid(person)]).map { row in
            let keys = secrets.keys(of: try row.bool("is_email") ? .email : .phone)
            let hashes = try? keys.hashes(ofSealed: try row.bytes("sealed"), for: person)
            return try hashes?.lasting ?? row.bytes("hash")
        }
    }

    private static let selectPresent = """
        SELECT hash, sealed, false AS is_email FROM phones WHERE person_id = $1
        UNION ALL SELECT hash, sealed, true FROM emails WHERE person_id = $1
        """
    private static let present = Statement(selectPresent)
    /// Includes former numbers.
    private static let all = Statement(
        "\(selectPresent) UNION ALL SELECT hash, sealed, false FROM phone_aliases WHERE person_id = $1")
    /// Challenges that the person requested for a change of the number or the address.
    private static let wanted: Statement = """
        SELECT c.id, c.phone_hash FROM challenges c JOIN challenge_bindings b ON b.challenge_id = c.id
            JOIN sessions s ON s.id = b.session_id
        WHERE s.person_id = $1
        """
    private static func bare(_ which: String) -> Statement {
        Statement(
            """
            UPDATE challenges SET phone_hash = $2, phone_sealed = '', code_hash = '',
                state = CASE state WHEN 'open' THEN 'dead' ELSE state END
            WHERE \(which)
            """)
    }
    /// Claims with the number that have ended. A claim that is still open belongs to the number's present holder.
    private static let claims: Statement = """
        DELETE FROM freezes WHERE claimant_hash = $1
            AND (ended_at IS NOT NULL AND claimant_free_at IS NOT NULL OR until <= clock_timestamp())
        """
    private static let limits: [Statement] = [
        bare("phone_hash = $1"),
        """
        WITH gone AS (DELETE FROM challenge_locks WHERE phone_hash = $1 RETURNING asker, until)
        INSERT INTO challenge_locks AS l (phone_hash, asker, until) SELECT $2, asker, until FROM gone
        ON CONFLICT (phone_hash, asker) DO UPDATE SET until = greatest(l.until, excluded.until)
        """,
    ]
    /// Rows that refer to a table are deleted before the rows of that table.
    private static let statements: [Statement] = [
        """
        DELETE FROM challenge_bindings WHERE session_id IN (SELECT id FROM sessions WHERE person_id = $1)
            OR link_hash IN (SELECT l.hash FROM link_tokens l JOIN identities i ON i.hash = l.identity_hash WHERE i.person_id = $1)
        """,
        "DELETE FROM link_tokens WHERE identity_hash IN (SELECT hash FROM identities WHERE person_id = $1)",
        "DELETE FROM identities WHERE person_id = $1", "DELETE FROM phone_aliases WHERE person_id = $1",
        "DELETE FROM replaced_push_tokens WHERE person_id = $1",
        "DELETE FROM refresh_tokens WHERE session_id IN (SELECT id FROM sessions WHERE person_id = $1)",
        "DELETE FROM sessions WHERE person_id = $1", "DELETE FROM devices WHERE person_id = $1",
        "DELETE FROM role_proposals WHERE person_id = $1", "DELETE FROM staff_notes WHERE person_id = $1",
        "DELETE FROM freezes WHERE person_id = $1", "DELETE FROM phones WHERE person_id = $1",
        "DELETE FROM emails WHERE person_id = $1",
        "DELETE FROM accounts WHERE id = $1",
    ]
}
