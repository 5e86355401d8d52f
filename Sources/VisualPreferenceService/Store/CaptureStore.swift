import BusProtocol
import Database
import EventLoop
import JSONText

/// Reads and writes people's visual sessions.
@Loop struct CaptureStore {
    let database: Database

    /// A row of the profile as it is shown.
    struct Profile {
        let status: String
        let confidence: Double?
        let attributes: [UInt8]
        let updatedAt: Timestamp
        let newSessionAt: Timestamp?
    }

    func profile(of person: Identifier) async throws -> Profile? {
        try await database.read(Self.selectProfile, [.uuid(person)]).first.map { row in
            Profile(
                status: try row.text("status"), confidence: try row.optionalDouble("confidence"),
                attributes: try row.json("attributes"), updatedAt: try row.timestamp("updated_at"),
                newSessionAt: try row.optionalTimestamp("new_session_at"))
        }
    }

    /// A session as it is stored.
    struct Stored {
        /// A session keeps the version that it began with.
        let setVersion: Int64
        fileprivate let session: Identifier
        fileprivate let row: Row
        fileprivate let shown: [Row]

        /// - Parameter set: of ``setVersion``.
        func capture(of set: StimulusSet) throws -> Capture {
            Capture(
                session: session, seed: UInt64(bitPattern: try row.integer("seed")),
                ridge: try row.optionalDouble("ridge") ?? Capture.ridge, set: set,
                status: Capture.Status(rawValue: try row.text("status")) ?? .inProgress,
                shown: try shown.compactMap { try CaptureStore.shown($0, of: set) },
                newSessionAt: try row.optionalTimestamp("new_session_at"))
        }
    }

    /// The person's session, locked until the transaction ends, and the database's time.
    func locked(_ person: Identifier, in transaction: Transaction) async throws -> (Stored?, now: Timestamp) {
        Erasure.wait(for: person, in: transaction)
        let rows = try await transaction.query(Self.select, [.uuid(person)])
        let shown = try await transaction.query(Self.selectShown, [.uuid(person)])
        guard let row = rows.first else { throw DatabaseError.aborted }
        let now = try row.timestamp("now")
        guard let session = try row.optionalUUID("session_id") else { return (nil, now) }
        return (
            Stored(setVersion: try row.integer("set_version"), session: session, row: row, shown: shown), now
        )
    }

    fileprivate nonisolated static func shown(_ row: Row, of set: StimulusSet) throws -> Capture.Shown? {
        guard let left = set.place(of: try row.text("left_item")), let right = set.place(of: try row.text("right_item"))
        else { return nil }
        let comparison = Comparison(
            left: left, right: right, purpose: .init(rawValue: try row.text("purpose")) ?? .informative,
            expected: try row.optionalText("expected").flatMap(Side.init),
            choice: try row.optionalText("choice").flatMap(Side.init), latencyMs: try row.optionalInteger("latency_ms"))
        return Capture.Shown(
            id: try row.uuid("presentation_id"), comparison: comparison, mutation: try row.optionalUUID("mutation_id"))
    }

    /// Puts a new session in the place of the one before.
    ///
    /// - Returns: false if the person is erased.
    func begin(_ capture: Capture, of person: Identifier, in transaction: Transaction) async throws -> Bool {
        transaction.send("DELETE FROM visual_preference_profiles WHERE person_id = $1", [.uuid(person)])
        return try await !transaction.query(
            Self.insert,
            [
                .uuid(person), .uuid(capture.session), .text(capture.status.rawValue), .integer(capture.set.version),
                .integer(Capture.algorithm), .double(capture.ridge), .integer(Int64(bitPattern: capture.seed)),
            ]
        ).isEmpty
    }

    /// - Parameter before: the pairs as they are stored.
    func write(
        _ capture: Capture, since before: [Capture.Shown], _ result: CaptureResult, of person: Identifier,
        in transaction: Transaction
    ) {
        for (position, shown) in capture.shown.enumerated() {
            let comparison = shown.comparison
            guard position >= before.count || comparison != before[position].comparison else { continue }
            transaction.send(
                Self.putShown,
                [
                    .uuid(person), .integer(Int64(position)), .uuid(shown.id),
                    .text(capture.set.items[comparison.left].id), .text(capture.set.items[comparison.right].id),
                    .text(comparison.purpose.rawValue), .text(comparison.expected?.rawValue),
                    .text(comparison.choice?.rawValue), .integer(comparison.latencyMs), .uuid(shown.mutation),
                ])
        }
        transaction.send(
            Self.update,
            [
                .uuid(person), .text(capture.status.rawValue), .double(result.confidence),
                .json(CanonicalJSON.bytes(of: .array(result.attributes.map(\.json)))),
                .textArray(result.flags.map(\.rawValue)), .timestamp(capture.newSessionAt),
            ])
    }

    private static let selectProfile: Statement = """
        SELECT status, confidence, attributes, updated_at, new_session_at FROM visual_preference_profiles
        WHERE person_id = $1
        """
    private static let select: Statement = """
        SELECT clock_timestamp() AS now, p.session_id, p.status, p.set_version, p.ridge, p.seed, p.new_session_at
        FROM (VALUES (1)) AS one LEFT JOIN visual_preference_profiles p ON p.person_id = $1
        """
    private static let selectShown: Statement = """
        SELECT presentation_id, left_item, right_item, purpose, expected, choice, latency_ms, mutation_id
        FROM presentations WHERE person_id = $1 ORDER BY position
        """
    private static let insert: Statement = """
        INSERT INTO visual_preference_profiles
            (person_id, session_id, status, set_version, algorithm_version, ridge, seed)
        SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT is_erased($1) RETURNING person_id
        """
    private static let putShown: Statement = """
        INSERT INTO presentations (person_id, position, presentation_id, left_item, right_item, purpose, expected,
            choice, latency_ms, mutation_id, answered_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $8 IS NOT NULL THEN clock_timestamp() END)
        ON CONFLICT (person_id, position) DO UPDATE SET choice = excluded.choice, latency_ms = excluded.latency_ms,
            mutation_id = excluded.mutation_id, answered_at = excluded.answered_at
            WHERE presentations.choice IS NULL AND excluded.choice IS NOT NULL
        """
    private static let update: Statement = """
        UPDATE visual_preference_profiles SET status = $2, confidence = $3, attributes = $4, flags = $5,
            new_session_at = $6, updated_at = clock_timestamp()
        WHERE person_id = $1
        """
}
