import BusProtocol
import Database
import EventLoop
import Foundation
import ServiceRuntime

/// Destroys pictures whose row has ended, and ends rows whose time is over.
///
/// Any replica does it. It takes rows for a minute, in which no other replica takes them. If the replica is killed or a
/// step fails, the row becomes due again after that minute. Then a replica repeats all steps.
@Loop struct DestructionStore {
    let database: Database
    let vault: MediaVault
    let audit: AuditTrail
    let log: Log

    /// The most pictures of one round.
    private static let most = 20
    /// The time after which a round begins no further step. The rows are taken for a minute, and the steps of one
    /// picture may take 15 s.
    private static let patience = Duration.seconds(40)

    /// Ends the rows whose time is over.
    func endExpired() async throws { _ = try await database.write(Self.expired, [.text("expired")]) }

    /// Destroys some pictures that are due: their keys, their bytes, and then the rows together with the audit trail.
    ///
    /// No transaction is open meanwhile, since a slow bucket takes longer than the database waits for one.
    ///
    /// - Returns: whether all steps succeeded and there may be more.
    func round() async throws -> Bool {
        let end = MonotonicClock.now() + Self.patience.nanoseconds
        let rows = try await database.write(Self.take, [.integer(Int64(Self.most))])
        let unreadable = await succeeded(rows, until: end) { try await vault.destroyKey(of: $0.uuid("media_id")) }
        let destroyed = await succeeded(unreadable, until: end) {
            try await vault.removeBytes(of: $0.uuid("media_id"), MediaPurpose(rawValue: $0.text("purpose")))
        }
        if !destroyed.isEmpty { try await note(destroyed) }
        return destroyed.count == Self.most
    }

    /// The rows for which a step succeeded. One picture that cannot be removed now must not delay the others.
    private func succeeded(_ rows: [Row], until end: UInt64, _ step: @Loop (Row) async throws -> Void) async -> [Row] {
        var done: [Row] = []
        for row in rows where !Task.isCancelled && MonotonicClock.now() < end {
            do {
                try await step(row)
                done.append(row)
            } catch {
                log.error("media_not_destroyed", ["error": .string(Log.name(of: error))])
            }
        }
        return done
    }

    /// Ends rows whose pictures are destroyed. A row with another due time stays: a replica took it later, or wrote its
    /// bytes again.
    private func note(_ destroyed: [Row]) async throws {
        try await database.transaction { transaction in
            let media = try destroyed.map { try $0.uuid("media_id") }
            let takenUntil = try destroyed[0].timestamp("due_at")
            for row in try await transaction.query(Self.done, [.uuidArray(media), .timestamp(takenUntil)]) {
                let act = AuditAct(
                    "media_destroyed",
                    [
                        "media": try row.uuid("media_id").description, "purpose": try row.text("purpose"),
                        "reason": try row.text("reason"),
                    ])
                audit.note(act, on: .service, in: transaction)
            }
        }
    }

    /// Ends files without a row, which exist after an operator restores an older database. It leaves a file alone for
    /// the time that an upload may take.
    func endOrphans() async throws {
        let before = Date(timeIntervalSinceNow: -2 * Double(UploadLimits.arrival.components.seconds))
        for store in vault.all {
            try await store.list(before: before) { _ = try await database.write(Self.orphans, [.uuidArray($0)]) }
        }
    }

    private static let expired = MediaStore.end("expires_at <= now()", "$1")
    /// All rows get the same time.
    private static let take: Statement = """
        UPDATE destructions SET due_at = now() + interval '1 minute' WHERE media_id = ANY(ARRAY(
            SELECT media_id FROM destructions WHERE due_at <= now()
            ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED))
        RETURNING media_id, purpose, reason, due_at
        """
    private static let done: Statement = """
        DELETE FROM destructions WHERE media_id = ANY($1) AND due_at = $2 RETURNING media_id, purpose, reason
        """
    private static let orphans: Statement = """
        INSERT INTO destructions (media_id, purpose, reason, due_at)
        SELECT id, 'unknown', 'orphan', clock_timestamp() FROM unnest($1::uuid[]) AS id
        WHERE NOT EXISTS (SELECT FROM media WHERE media_id = id) ON CONFLICT (media_id) DO NOTHING
        """
}
