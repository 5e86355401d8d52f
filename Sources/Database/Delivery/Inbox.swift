import Cryptography
import EventLoop
import JSONText
import Values

/// The values that identify a repetition of a request.
package struct InboxRequest: Sendable {
    /// The person who uses the key, or the key itself if nobody is signed in.
    package var scope: String
    /// The idempotency key.
    package var key: String
    /// The type of the request.
    package var type: MessageType
    /// The body of the request. A key belongs to one body.
    package var body: [UInt8]

    /// Takes the values that identify a repetition.
    package init(scope: String, key: String, type: MessageType, body: [UInt8]) {
        self.scope = scope
        self.key = key
        self.type = type
        self.body = body
    }
}

/// A handler's decision. Both kinds are committed, stored and sent again.
package enum Outcome<Reply: JSONCoded & Sendable>: Sendable {
    case reply(Reply)
    /// A refusal with an effect, such as a wrong code that was counted. A handler throws a refusal without an effect,
    /// and the transaction rolls back.
    case refusal(BusError)
}

/// Stored answers. A repeated request gets its stored answer and is not executed again.
@Loop package final class Inbox {
    private let database: Database
    private let sealer: Sealer
    private let keyHash: KeyedHash
    private let digest: KeyedHash

    /// Takes the database and the keys that encrypt the answers.
    package init(database: Database, keys: KeyRing) {
        self.database = database
        sealer = Sealer(keys, purpose: "inbox-reply")
        keyHash = KeyedHash(keys, purpose: "inbox-key")
        digest = KeyedHash(keys, purpose: "inbox-digest")
    }

    /// Runs `body` in one transaction with the row that stores its answer.
    ///
    /// - Parameters:
    ///   - request: `nil` for a request without a key, which is executed each time.
    ///   - carriesToken: whether to keep the reply for 60 s only. The inbox keeps its row for the full time.
    /// - Returns: the reply, and whether it is a stored reply.
    /// - Throws: the refusal, stored or not; ``BusError`` `idempotency_key_reused`, `request_in_progress` or
    ///   `idempotency_answer_gone`; any error of `body`.
    package func once<Reply: JSONCoded & Sendable>(
        _ request: InboxRequest?, carriesToken: Bool = false,
        _ body: @Loop (Transaction) async throws -> Outcome<Reply>
    ) async throws -> (reply: Reply, isReplay: Bool) {
        try await once(request, carriesToken: carriesToken, reading: nil) { transaction, _ in
            try await body(transaction)
        }
    }

    /// Does the same, and gives `body` the rows of a statement that always runs first. That statement goes to the
    /// database together with the one for the key, which saves a round trip.
    package func once<Reply: JSONCoded & Sendable>(
        _ request: InboxRequest?, carriesToken: Bool = false, reading first: Query?,
        _ body: @Loop (Transaction, [Row]) async throws -> Outcome<Reply>
    ) async throws -> (reply: Reply, isReplay: Bool) {
        guard let request else {
            let outcome = try await database.transaction { transaction in
                let rows = if let first { try await transaction.query(first.statement, first.values) } else { [Row]() }
                return try await body(transaction, rows)
            }
            return (try outcome.get(), false)
        }
        let (key, requestDigest) = (hash(of: request), digest.code(for: request.body))
        let result = try await database.transaction { transaction in
            guard let rows = try await reserve(key, requestDigest, request, reading: first, in: transaction) else {
                return try await stored(key, requestDigest, Reply.self, in: transaction)
            }
            let outcome = try await body(transaction, rows)
            let (bytes, isRefusal) = try outcome.encoded()
            transaction.send(
                Self.keep,
                [
                    .bytes(key), .bytes(sealer.seal(bytes, associated: key)), .bool(isRefusal),
                    .integer(carriesToken ? 60 : 86_400),
                ])
            return (outcome, false)
        }
        return (try result.0.get(), result.1)
    }

    private func hash(of request: InboxRequest) -> [UInt8] {
        keyHash.code(for: "\(request.scope)\n\(request.type)\n\(request.key)")
    }

    /// For work that starts in another service before ``once(_:carriesToken:_:)``: refuses a key that was used with
    /// another body.
    ///
    /// - Returns: whether the request was executed with this body.
    /// - Throws: ``BusError`` `idempotency_key_reused`.
    @discardableResult package func refuseReuse(_ request: InboxRequest?) async throws -> Bool {
        guard let request, let row = try await database.read(Self.load, [.bytes(hash(of: request))]).first else {
            return false
        }
        try refuseReuse(row, digest.code(for: request.body))
        return true
    }

    private func refuseReuse(_ row: Row, _ requestDigest: [UInt8]) throws {
        guard constantTimeEqual(try row.bytes("request_digest"), requestDigest) else {
            throw BusError(.idempotencyKeyReused, "This Idempotency-Key was used for another request.")
        }
    }

    /// Writes the row of the key, and returns the rows of the first statement; `nil` if the key's row exists.
    private func reserve(
        _ key: [UInt8], _ requestDigest: [UInt8], _ request: InboxRequest,
        reading first: Query?, in transaction: Transaction
    ) async throws -> [Row]? {
        let lifetime: Int64 = request.key.hasPrefix(IdempotencyKey.gatewayPrefix) ? 600 : 86_400
        let values: [SQLValue] = [.bytes(key), .bytes(requestDigest), .integer(lifetime)]
        do {
            guard let first else { return try await transaction.query(Self.reserve, values).isEmpty ? nil : [] }
            let (reserved, rows) = try await transaction.query(
                Self.reserve, values, then: first.statement, first.values)
            return reserved.isEmpty ? nil : rows
        } catch let error where error.isLockTimeout {
            throw BusError.requestInProgress
        }
    }

    private func stored<Reply: JSONCoded & Sendable>(
        _ key: [UInt8], _ requestDigest: [UInt8], _ type: Reply.Type, in transaction: Transaction
    ) async throws -> (Outcome<Reply>, Bool) {
        guard let row = try await transaction.query(Self.load, [.bytes(key)]).first else {
            throw DatabaseError.aborted
        }
        try refuseReuse(row, requestDigest)
        guard let sealed = try row.optionalBytes("reply") else {
            throw BusError(.idempotencyAnswerGone, "This request was done, and its answer is no longer kept.")
        }
        let bytes = try sealer.open(sealed, associated: key)
        guard try row.bool("is_refusal") else {
            return (.reply(try Reply(json: JSONDocument(bytes).root)), true)
        }
        return (.refusal(try WireJSON.decode(BusError.self, from: bytes)), true)
    }

    /// Removes expired rows in batches.
    ///
    /// - Returns: whether there may be more.
    package func purge() async throws -> Bool {
        let deleted = try await database.write(Self.deleteExpired).count
        let erased = try await database.write(Self.eraseReplies).count
        return deleted == 1000 || erased == 1000
    }

    private static let reserve: Statement = """
        INSERT INTO inbox AS i (key, request_digest, expires_at)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s')
        ON CONFLICT (key) DO UPDATE
            SET request_digest = excluded.request_digest, reply = NULL, expires_at = excluded.expires_at
            WHERE i.expires_at < clock_timestamp()
        RETURNING key
        """
    private static let load: Statement = """
        SELECT request_digest, is_refusal, CASE WHEN reply_until > clock_timestamp() THEN reply END AS reply
        FROM inbox WHERE key = $1
        """
    private static let keep: Statement = """
        UPDATE inbox SET reply = $2, is_refusal = $3, reply_until = clock_timestamp() + $4::bigint * interval '1 s'
        WHERE key = $1
        """
    private static let eraseReplies: Statement = """
        UPDATE inbox SET reply = NULL WHERE key = ANY (ARRAY(
            SELECT key FROM inbox WHERE reply IS NOT NULL AND reply_until < now() LIMIT 1000))
            AND reply_until < now()
        RETURNING key
        """
    private static let deleteExpired: Statement = """
        DELETE FROM inbox WHERE key IN (SELECT key FROM inbox WHERE expires_at < now() LIMIT 1000)
            -- Looked at again behind a wait: a key may have been taken anew.
            AND expires_at < now()
        RETURNING key
        """
}

extension BusError {
    /// A request with the same effect is at work, or overtook this one. This request did nothing.
    package static var requestInProgress: BusError {
        BusError(
            .requestInProgress, "The same request is being worked on. Please try again in a moment.",
            retryAfter: .seconds(1))
    }
}

extension Outcome {
    fileprivate func get() throws -> Reply {
        switch self {
        case .reply(let reply): return reply
        case .refusal(let error): throw error
        }
    }

    fileprivate func encoded() throws -> (bytes: [UInt8], isRefusal: Bool) {
        switch self {
        case .reply(let reply): (reply.jsonBytes, false)
        case .refusal(let error): (try WireJSON.encode(error), true)
        }
    }
}
