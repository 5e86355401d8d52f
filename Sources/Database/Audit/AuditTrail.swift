import Cryptography
import EventLoop
import JSONText
import Values

/// Whose acts follow one another: those of a person, who is named by a pseudonym, those about a thing, or those of nobody
/// in particular.
public struct AuditChain: Sendable, Hashable {
    /// A pseudonym of 22 characters, a kind and an id (`case 019c…`), or `service`.
    public let name: String

    /// Of acts without a person.
    public static let service = AuditChain(name: "service")

    /// Of acts about something that is no person, such as a recovery case, whose id says nothing of anybody.
    ///
    /// - Parameter kind: lower case letters; no pseudonym has a space in it.
    public static func thing(_ kind: String, _ id: Identifier) -> AuditChain { AuditChain(name: "\(kind) \(id)") }
}

/// Something that matters for the security of an account or of the service.
public struct AuditAct: Sendable {
    /// Lower case letters and underscores: `session_ended`.
    public let name: String
    /// Codes and ids: nothing personal, and never the person's own id, which would outlive them.
    public let details: [String: String]

    public init(_ name: String, _ details: [String: String] = [:]) { (self.name, self.details) = (name, details) }

    /// The arguments of `audit_append`, for who writes an act with the statement that does it.
    public func values(on chain: AuditChain) -> [SQLValue] {
        let text = CanonicalJSON.bytes(of: .object(details.mapValues { .string($0) }))
        return [.text(chain.name), .text(name), .text(String(decoding: text, as: UTF8.self))]
    }
}

/// What happened to the security of accounts, a row for each act in the transaction of its effect.
///
/// Each row has the hash of the one before it in its chain; the database holds the chain's head, so that two replicas
/// never go on from the same row. The role of the service can add rows and neither change nor remove one.
@Loop public struct AuditTrail: Sendable {
    private let sealer: Sealer

    public nonisolated init(keys: KeyRing) { sealer = Sealer(keys, purpose: "audit-pseudonym") }

    /// Writes an act down. It leaves with the next statement that waits, or with the commit.
    public func note(_ act: AuditAct, on chain: AuditChain, in transaction: Transaction) {
        transaction.send(Self.append, act.values(on: chain))
    }

    // MARK: Pseudonyms

    /// The chain of a person, at the cost of a round trip; that of the service where the person has no pseudonym, as who
    /// was deleted: whatever comes late makes none.
    public func chain(of person: Identifier, in transaction: Transaction) async throws -> AuditChain {
        let rows = try await transaction.query(
            "SELECT key_sealed FROM pseudonyms WHERE person_id = $1", [.uuid(person)])
        return try rows.first.map { try chain(of: person, sealedKey: $0.bytes("key_sealed")) } ?? .service
    }

    /// The chain of a person who is known to be here, at the cost of a round trip. Who has no pseudonym gets one.
    public func ensure(_ person: Identifier, in transaction: Transaction) async throws -> AuditChain {
        let rows = try await transaction.query(Self.ensure, [.uuid(person), .bytes(newKey(of: person).sealed)])
        guard let sealed = try rows.first?.bytes("key_sealed") else { throw DatabaseError.aborted }
        return try chain(of: person, sealedKey: sealed)
    }

    /// The chain of a person whose row of `pseudonyms` was read with something else.
    public nonisolated func chain(of person: Identifier, sealedKey: [UInt8]) throws -> AuditChain {
        Self.chain(of: person, key: try sealer.open(sealedKey, associated: person.array))
    }

    /// The chain of a person who is new here, at the cost of no round trip.
    public func begin(_ person: Identifier, in transaction: Transaction) -> AuditChain {
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
    /// Two at once get the key of the first.
    private static let ensure: Statement = """
        INSERT INTO pseudonyms AS p (person_id, key_sealed) VALUES ($1, $2)
        ON CONFLICT (person_id) DO UPDATE SET key_sealed = p.key_sealed RETURNING key_sealed
        """
}
