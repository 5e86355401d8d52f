import Cryptography
import EventLoop
import JSONText
import Values

/// A sequence of acts: the acts of a person (named by a pseudonym), the acts on a thing, or all other acts.
package struct AuditChain: Sendable, Hashable {
    /// A pseudonym of 22 characters, a kind and an ID (`case 019c…`), or `service`.
    package let name: String

    /// The chain of acts without a person.
    package static let service = AuditChain(name: "service")

    /// The chain of acts on a thing, such as a recovery case. Its ID must reveal nothing about a person.
    ///
    /// - Parameter kind: lower-case letters. A pseudonym contains no space, so the names cannot collide.
    package static func thing(_ kind: String, _ id: Identifier) -> AuditChain { AuditChain(name: "\(kind) \(id)") }
}

/// An act that matters for the security of an account or of the service.
package struct AuditAct: Sendable {
    /// Lower-case letters and underscores: `session_ended`.
    package let name: String
    /// Codes and IDs. Nothing personal, and never the person's own ID, because the trail is kept after a deletion.
    package let details: [String: String]

    /// Takes the name of the act and its details.
    package init(_ name: String, _ details: [String: String] = [:]) { (self.name, self.details) = (name, details) }

    /// The arguments of `audit_append`, for a statement that records the act itself.
    package func values(on chain: AuditChain) -> [SQLValue] {
        let text = CanonicalJSON.bytes(of: .object(details.mapValues { .string($0) }))
        return [.text(chain.name), .text(name), .text(String(decoding: text, as: UTF8.self))]
    }
}

/// The audit trail: one row for each act, written in the transaction of its effect.
///
/// Each row contains the hash of the row before in its chain. The database keeps the chain's head, so two replicas
/// never continue from the same row. The service's role can add rows, but neither change nor remove them.
@Loop package struct AuditTrail: Sendable {
    private let sealer: Sealer

    /// Takes the keys of the pseudonyms.
    package nonisolated init(keys: KeyRing) { sealer = Sealer(keys, purpose: "audit-pseudonym") }

    /// Records an act. The transaction sends it with the next statement that waits, or with the commit.
    package func note(_ act: AuditAct, on chain: AuditChain, in transaction: Transaction) {
        transaction.send(Self.append, act.values(on: chain))
    }

    // MARK: Pseudonyms

    /// The chain of a person. It costs one round trip. A person without a pseudonym, such as a deleted one, gets the
    /// service's chain. A late act creates no pseudonym.
    package func chain(of person: Identifier, in transaction: Transaction) async throws -> AuditChain {
        let rows = try await transaction.query(
            "SELECT key_sealed FROM pseudonyms WHERE person_id = $1", [.uuid(person)])
        return try rows.first.map { try chain(of: person, sealedKey: $0.bytes("key_sealed")) } ?? .service
    }

    /// The chain of a person who is known to exist. It costs one round trip. A person without a pseudonym gets one.
    package func ensure(_ person: Identifier, in transaction: Transaction) async throws -> AuditChain {
        let rows = try await transaction.query(Self.ensure, [.uuid(person), .bytes(newKey(of: person).sealed)])
        guard let sealed = try rows.first?.bytes("key_sealed") else { throw DatabaseError.aborted }
        return try chain(of: person, sealedKey: sealed)
    }

    /// Whether an act is the newest of a chain, and less than a minute old. A repeated view with no act in between,
    /// such as a repeated request, need not be recorded again.
    package func isLast(
        _ act: AuditAct, on chain: AuditChain, in transaction: Transaction
    ) async throws -> Bool {
        try await !transaction.query(Self.last, act.values(on: chain)).isEmpty
    }

    private static let last: Statement = """
        SELECT sequence FROM audit
        WHERE chain = $1 AND act = $2 AND details = $3 AND sequence = (SELECT max(sequence) FROM audit WHERE chain = $1)
            AND at BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()
        """

    /// The chain of a person whose row of `pseudonyms` the caller has read together with other rows.
    package nonisolated func chain(of person: Identifier, sealedKey: [UInt8]) throws -> AuditChain {
        Self.chain(of: person, key: try sealer.open(sealedKey, associated: person.array))
    }

    /// The chain of a new person. It costs no round trip.
    package func begin(_ person: Identifier, in transaction: Transaction) -> AuditChain {
        let (key, sealed) = newKey(of: person)
        transaction.send(
            "INSERT INTO pseudonyms (person_id, key_sealed) VALUES ($1, $2)", [.uuid(person), .bytes(sealed)])
        return Self.chain(of: person, key: key)
    }

    private nonisolated func newKey(of person: Identifier) -> (key: [UInt8], sealed: [UInt8]) {
        let key = RandomBytes.make(32)
        return (key, sealer.seal(key, associated: person.array))
    }

    private nonisolated static func chain(of person: Identifier, key: [UInt8]) -> AuditChain {
        AuditChain(name: Base64URL.encode(Array(HMACSHA256.code(for: person.array, key: key).prefix(16))))
    }

    private static let append: Statement = "SELECT audit_append($1, $2, $3)"
    /// If two transactions do this at once, both use the key of the first.
    private static let ensure: Statement = """
        INSERT INTO pseudonyms AS p (person_id, key_sealed) VALUES ($1, $2)
        ON CONFLICT (person_id) DO UPDATE SET key_sealed = p.key_sealed RETURNING key_sealed
        """
}
