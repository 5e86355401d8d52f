import EventLoop
import Values

/// A receiver's side of the agreement on the epoch of its database.
///
/// The epoch is the cluster, its timeline and the schema. A new epoch begins with a failover, a restore or a move. The
/// data may then be those of an earlier moment. A producer must then put back the events that it delivered since that
/// moment. Until it has, the receiver accepts no event from it. Otherwise a newer event would be accepted first, and
/// the lost ones would be ignored as older.
///
/// A producer in the same cluster falls back to the same moment, so there is nothing to agree on. Nothing protects data that
/// end before the first agreement.
@Loop package enum EventEpoch {
    /// Notes that a producer has put back the events that this database lost before an epoch. It does so only for the
    /// present epoch.
    ///
    /// - Parameters:
    ///   - epoch: the last epoch that the producer knows; `nil` if it knows none.
    ///   - cluster: the cluster of the producer.
    ///   - now: the time by the producer's clock.
    /// - Returns: the present epoch; `nil` in the same cluster. It also returns the producer's time at an earlier note,
    ///   if these data have one. The data have every event that was delivered until then.
    package static func agree(
        on epoch: String?, in cluster: String, at now: Timestamp, with producer: ServiceName, over database: Database
    ) async throws -> (epoch: String?, since: Timestamp?) {
        let row = try await database.write(
            note, [.text(producer.rawValue), .text(epoch), .text(cluster), .timestamp(now)])[0]
        return (try row.optionalText("epoch"), try row.optionalTimestamp("since"))
    }

    /// The answer to an event until the producer has put back the lost events. The relay repeats the event.
    static let isUnknown = BusError(.eventsAwaited, "Events that this database lost are awaited first.")

    private static let note: Statement = """
        WITH present AS (
            SELECT database_epoch() AS epoch, system_identifier::text = $3 AS is_shared FROM pg_control_system()
        ), forgotten AS (
            DELETE FROM event_producers WHERE producer = $1 AND (SELECT is_shared FROM present)
        ), noted AS (
            INSERT INTO event_producers AS p (producer, epoch, run, at)
            SELECT $1, epoch, database_run(), $4 FROM present WHERE epoch = $2 AND NOT is_shared
            ON CONFLICT (producer) DO UPDATE SET epoch = excluded.epoch, run = excluded.run, at = excluded.at
            -- Not each time, because an idle database need not write.
            WHERE p.run <> excluded.run
                OR p.at NOT BETWEEN excluded.at - interval '1 minute' AND excluded.at + interval '1 minute'
        )
        SELECT CASE WHEN NOT is_shared THEN epoch END AS epoch,
            (SELECT at FROM event_producers WHERE producer = $1) AS since
        FROM present
        """
}

extension Outbox {
    /// The facts that a producer sends when it asks a receiver for its epoch.
    package struct Knowledge: Sendable {
        /// The last epoch of the receiver's database that this producer has noted, after it put back the lost events.
        /// It puts back none for the first epoch. `nil` before that one.
        package let epoch: String?
        /// The cluster of this database.
        package let cluster: String
        /// The time by the clock of this database.
        package let now: Timestamp
    }

    /// The stored epoch of a receiver, with the cluster and the time of this database.
    package func knowledge(of receiver: ServiceName) async throws -> Knowledge {
        let row = try await database.read(Self.known, [.text(receiver.rawValue)])[0]
        return Knowledge(
            epoch: try row.optionalText("epoch"), cluster: try row.text("cluster"), now: try row.timestamp("now"))
    }

    /// Notes the epoch of a receiver's database. From then on, the outbox keeps delivered events for the receiver.
    ///
    /// - Parameter epoch: `nil` if the receiver is in the same cluster.
    package func note(_ epoch: String?, of receiver: ServiceName) async throws {
        let name = SQLValue.text(receiver.rawValue)
        if let epoch {
            _ = try await database.write(Self.know, [name, .text(epoch)])
        } else {
            _ = try await database.write("DELETE FROM event_receivers WHERE receiver = $1", [name])
        }
    }

    /// Puts back the events that were delivered to a receiver since a moment. They wait a minute, or for ``release(to:)``.
    /// Newer events about the same people wait behind them.
    ///
    /// It returns once no relay still holds an item that it took before this call. That is mostly at once, and after 70
    /// s at the most.
    ///
    /// - Parameter moment: `nil` for all events that are kept.
    /// - Returns: the number of events that it put back.
    package func putBack(to receiver: ServiceName, since moment: Timestamp?) async throws -> Int64 {
        let name = SQLValue.text(receiver.rawValue)
        var count: Int64 = 0
        // While the first round waits, relays move events that they delivered just before it to the delivered ones. So
        // a second round must put these back, too.
        for _ in 0..<2 {
            count += try await inBatches(Self.putBack, [name, .timestamp(moment)])
            let done = try await database.read("SELECT clock_timestamp() AS now")[0].timestamp("now")
            while try await database.read(Self.inHand, [name, .timestamp(done)])[0].bool("is_in_hand") {
                try await Loop.sleep(for: .milliseconds(100))
            }
        }
        return count
    }

    /// Makes all items that wait for a receiver due at once. Their earlier attempts do not count.
    package func release(to receiver: ServiceName) async throws {
        _ = try await inBatches(Self.release, [.text(receiver.rawValue)])
        lookNow()
    }

    /// Removes delivered events that no receiver needs any more, but none within an hour of its delivery. These are
    /// events for no known receiver, and events that are a day old. Events that are an hour older than the last
    /// agreement with their receiver are removed, too.
    package func purgeDelivered() async throws { _ = try await inBatches(Self.purge, []) }

    /// Repeats a statement that picks and changes a batch of rows, until it picks less than a whole batch. It may
    /// change fewer rows than it picks, because another replica may have changed some.
    ///
    /// - Returns: the number of changed rows.
    private func inBatches(_ statement: Statement, _ values: [SQLValue]) async throws -> Int64 {
        var count: Int64 = 0
        while true {
            let row = try await database.write(statement, values)[0]
            count += try row.integer("changed")
            if try row.integer("picked") < Self.batch { return count }
        }
    }

    private static let batch = 1000

    /// - Parameters:
    ///   - pick: SQL that returns the ids of the rows.
    ///   - change: common table expressions. The last one is `changed`, with a row for each row of `picked` that it changed.
    private static func batched(_ pick: String, _ change: String) -> Statement {
        Statement(
            """
            WITH picked AS MATERIALIZED (\(pick) LIMIT \(batch)), \(change)
            SELECT (SELECT count(*) FROM picked) AS picked, (SELECT count(*) FROM changed) AS changed
            """)
    }

    private static let known: Statement = """
        SELECT clock_timestamp() AS now, system_identifier::text AS cluster,
            (SELECT epoch FROM event_receivers WHERE receiver = $1) AS epoch
        FROM pg_control_system()
        """
    private static let know: Statement = """
        INSERT INTO event_receivers AS r (receiver, epoch, at) VALUES ($1, $2, clock_timestamp())
        ON CONFLICT (receiver) DO UPDATE SET epoch = excluded.epoch, at = excluded.at
        WHERE r.epoch <> excluded.epoch
            OR r.at NOT BETWEEN excluded.at - interval '1 minute' AND excluded.at + interval '1 minute'
        """
    /// It starts a minute before the moment. The earlier times may come from the clock of a former server of this
    /// database.
    private static let putBack = batched(
        """
        SELECT id FROM outbox_delivered
        WHERE destination = $1 AND delivered_at >= coalesce($2::timestamptz, '-infinity') - interval '1 minute'
        """,
        """
        taken AS (
            DELETE FROM outbox_delivered WHERE id IN (SELECT id FROM picked) RETURNING *
        ), changed AS (
            INSERT INTO outbox (
                id, destination, message_type, message_version, person_id, person_sequence, payload, due_at)
            SELECT id, destination, message_type, message_version, person_id, person_sequence, payload,
                clock_timestamp() + interval '1 minute'
            FROM taken RETURNING id
        )
        """)
    /// Whether a relay may hold an item that it took without seeing the events that were put back. A claim leases an
    /// item for 30 s and takes 5 s at the most. So a lease with a later end belongs to a later claim. The lease of a
    /// claim that still runs is not visible, so every running transaction counts.
    private static let inHand: Statement = """
        SELECT EXISTS (
            SELECT FROM outbox
            WHERE destination = $1 AND locked_until BETWEEN clock_timestamp() AND $2::timestamptz + interval '35 s'
        ) OR EXISTS (
            SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND usename = current_user AND xact_start < $2 AND pid <> pg_backend_pid()
        ) AS is_in_hand
        """
    private static let release = batched(
        """
        SELECT id FROM outbox
        WHERE destination = $1 AND dead_at IS NULL AND locked_until IS NULL AND due_at > clock_timestamp()
        """,
        """
        changed AS (
            UPDATE outbox SET due_at = clock_timestamp(), attempts = 0 WHERE id IN (SELECT id FROM picked) RETURNING id
        )
        """)
    private static let purge = batched(
        """
        SELECT d.id FROM outbox_delivered d
        WHERE d.delivered_at < now() - interval '1 hour' AND NOT EXISTS (
            SELECT FROM event_receivers r
            WHERE r.receiver = d.destination AND d.delivered_at >= r.at - interval '1 hour'
                AND d.delivered_at >= clock_timestamp() - interval '1 day')
        """,
        "changed AS (DELETE FROM outbox_delivered WHERE id IN (SELECT id FROM picked) RETURNING id)")
}
