import BusProtocol
import Database
import EventLoop
import Foundation
import ServiceRuntime

/// Destroys pictures whose row has ended, and ends rows whose time is over.
///
/// Any replica does it, each picture once. A replica that is killed between two steps leaves the row, so the next round
/// does all steps again.
@Loop struct DestructionStore {
    let database: Database
    let vault: MediaVault
    let audit: AuditTrail
    let log: Log

    /// The most pictures of one round.
    private static let most = 20
    /// When a round begins no further destruction. The database ends a transaction that does nothing for 10 s, and one
    /// destruction may take 5 s.
    private static let patience = Duration.seconds(4)

    /// Ends the rows whose time is over.
    func endExpired() async throws { _ = try await database.write(Self.expired, [.text("expired")]) }

    /// Destroys some pictures that are due: key, bytes, and then the row together with the audit trail.
    ///
    /// - Returns: whether there may be more.
    func round() async throws -> Bool {
        try await database.transaction { transaction in
            let rows = try await transaction.query(Self.due, [.integer(Int64(Self.most))])
            let end = MonotonicClock.now() + Self.patience.nanoseconds
            var destroyed: [Row] = []
            var failed: Row?
            for row in rows where failed == nil && MonotonicClock.now() < end {
                do {
                    try await vault.destroy(try row.uuid("media_id"), MediaPurpose(rawValue: try row.text("purpose")))
                    destroyed.append(row)
                } catch {
                    // The others must not wait for one that cannot be removed now, and a bucket that does not answer takes
                    // seconds to say so. The next round goes on with them.
                    log.error("media_not_destroyed", ["error": .string(Log.name(of: error))])
                    failed = row
                }
            }
            // Only now, since a note holds the chain of the audit trail until the transaction ends.
            for row in destroyed {
                let media = try row.uuid("media_id")
                transaction.send(Self.done, [.uuid(media)])
                let act = AuditAct(
                    "media_destroyed",
                    [
                        "media": media.description, "purpose": try row.text("purpose"),
                        "reason": try row.text("reason"),
                    ])
                audit.note(act, on: .service, in: transaction)
            }
            if let failed { transaction.send(Self.postpone, [.uuid(try failed.uuid("media_id"))]) }
            return rows.count == Self.most || destroyed.count < rows.count
        }
    }

    /// Ends files without a row, as they are after an older database was restored. A file is left alone for the time
    /// that an upload may take.
    func endOrphans() async throws {
        let before = Date(timeIntervalSinceNow: -2 * Double(UploadLimits.arrival.components.seconds))
        for store in vault.all {
            try await store.list(before: before) { _ = try await database.write(Self.orphans, [.uuidArray($0)]) }
        }
    }

    private static let expired = MediaStore.end("expires_at <= clock_timestamp()", "$1")
    private static let due: Statement = """
        SELECT media_id, purpose, reason FROM destructions WHERE due_at <= clock_timestamp()
        ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
        """
    private static let done: Statement = "DELETE FROM destructions WHERE media_id = $1"
    private static let postpone: Statement = """
        UPDATE destructions SET due_at = clock_timestamp() + interval '1 minute' WHERE media_id = $1
        """
    private static let orphans: Statement = """
        INSERT INTO destructions (media_id, purpose, reason, due_at)
        SELECT id, 'unknown', 'orphan', clock_timestamp() FROM unnest($1::uuid[]) AS id
        WHERE NOT EXISTS (SELECT FROM media WHERE media_id = id) ON CONFLICT (media_id) DO NOTHING
        """
}
