import EventLoop
import Values

/// The items that a relay delivers. Slow destinations have their own relay.
package struct OutboxLane: Sendable {
    let destinations: [String]
    /// Only these destinations, or all destinations except these.
    let isOnly: Bool

    /// The lane with all destinations.
    package static let all = OutboxLane(destinations: [], isOnly: false)
    /// A lane with only these destinations.
    package static func only(_ destination: String) -> OutboxLane {
        OutboxLane(destinations: [destination], isOnly: true)
    }
    /// A lane with all destinations except these.
    package static func allBut(_ destinations: [String]) -> OutboxLane {
        OutboxLane(destinations: destinations, isOnly: false)
    }

    func contains(_ destination: String) -> Bool { destinations.contains(destination) == isOnly }

    /// Whether items of the lane may be timers, which need the time of a clock that has not jumped.
    var mayHaveTimers: Bool { !isOnly || destinations.contains { $0.hasPrefix("timer:") } }

    /// The lane without these destinations.
    func without(_ absent: [String]) -> OutboxLane {
        isOnly
            ? OutboxLane(destinations: destinations.filter { !absent.contains($0) }, isOnly: true)
            : OutboxLane(destinations: destinations + absent, isOnly: false)
    }
}

/// A deliverer's error that sets the time of the next attempt, instead of the outbox.
package struct DeliveryPostponed: Error, Equatable {
    /// The time until the next attempt.
    package let pause: Duration
    /// The error code for the log.
    package let code: String
    /// Takes the time until the next attempt and the error code for the log.
    package init(pause: Duration, code: String) { (self.pause, self.code) = (pause, code) }
}

/// A deliverer throws this for an item that has not failed, but is not done either. The relay delivers the same item
/// again, with ten new attempts.
///
/// So there is one row for the item at any time, even if a process is killed.
package struct RedeliverLater: Error, Equatable {
    /// The time until the next delivery of the item.
    package let pause: Duration
    /// Takes the time until the next delivery of the item.
    package init(after pause: Duration) { self.pause = pause }
}

/// Delivers due items at least once, in order per person and destination. Any replica may deliver an item.
@Loop package final class OutboxRelay {
    private let outbox: Outbox
    private let lane: OutboxLane
    private let deliver: @Loop (OutboxItem) async throws -> Void
    private var isStopped = false
    private var nap: LoopPromise<Void>?
    private var isWanted = false
    /// Whether nothing has woken the relay since it went to rest.
    private var isIdle = false
    private var guardian = ClockGuard()
    /// The server's timeline at the last look, and its timeline when its clock was last trusted. A different timeline
    /// means that another server has taken over.
    private var (timeline, trustedTimeline) = ("", "")
    /// The running deliveries. A slow one does not block the others.
    private var inHand = 0
    /// Delivered items that are still in the table. The next look removes them, so many share a commit.
    private var delivered: [Identifier] = []
    private var isLooking = false
    /// The error code of the last look.
    private var blindness: String?
    private var timersMayFire = true
    /// Whether the database's clock and this machine's boot clock advanced together, at the last look. A relay without
    /// timers looks at neither.
    package var trustsClock: Bool { timersMayFire }
    /// Called when the database's clock jumped, and for each item that became a dead letter.
    package var onAlarm: (@Loop (OutboxAlarm) -> Void)?
    /// Returns the destinations without a receiver. Their items wait without attempts and do not take up capacity.
    package var absent: (@Loop () -> [String])?
    /// Returns whether messages of a type are tried until they are delivered, at least every 20 s, and never become
    /// dead letters.
    package var isNeverGivenUp: @Loop (MessageType) -> Bool = { _ in false }
    /// Called for each failed attempt, with the destination, the number of the attempt and the error code.
    package var onFailure: (@Loop (String, Int64, String) -> Void)?

    private static let batch = 32
    private static let longestNap = Duration.milliseconds(500)
    private static let longestGathering = Duration.milliseconds(20)

    /// - Parameter deliver: delivers an item, and returns once the receiver has stored it. An error counts as a failed
    ///   attempt.
    package init(
        _ outbox: Outbox, _ lane: OutboxLane = .all, deliver: @escaping @Loop (OutboxItem) async throws -> Void
    ) {
        (self.outbox, self.lane) = (outbox, lane)
        self.deliver = deliver
    }

    /// Runs until `stop`.
    package func run() async {
        outbox.onEnqueue.append { [weak self] destination in
            guard let self, destination.map(lane.contains) ?? true else { return }
            wake()
        }
        while !isStopped {
            let room = Self.batch - inHand
            let taken = room > 0 ? await look(for: room) : 0
            if taken < room || room <= 0, !isStopped { await rest() } else { await makeRoom() }
        }
    }

    /// If more items are due than fit, the relay waits before its next query, so that the query can take many. A query
    /// costs the same for one item as for many. Hanging deliveries delay the others only briefly.
    private func makeRoom() async {
        let end = MonotonicClock.now() + Self.longestGathering.nanoseconds
        while !isStopped, inHand > Self.batch / 2, MonotonicClock.now() < end {
            await rest(atMost: Self.longestGathering)
        }
    }

    /// The relay reports an unreadable queue once. Other code reports a database that is down.
    private func look(for room: Int) async -> Int {
        do {
            let taken = try await takeDue(atMost: room)
            blindness = nil
            return taken
        } catch {
            let code = Self.code(of: error)
            if code != blindness, code != ErrorCode.serviceUnavailable.name { onAlarm?(.blind(code)) }
            blindness = code
            return 0
        }
    }

    /// Starts no delivery, and returns when the running ones have ended.
    package func stop() async {
        isStopped = true
        wake()
        while inHand > 0 || isLooking { try? await Loop.sleep(for: .milliseconds(2)) }
        if !delivered.isEmpty { _ = try? await outbox.database.write(Self.delete, [.uuidArray(delivered)]) }
    }

    /// A wake-up during a look is not lost: the relay looks again.
    private func wake() {
        isWanted = true
        nap?.resolve(.success(()))
    }

    private func rest(atMost limit: Duration? = nil) async {
        defer { (isIdle, isWanted) = (!isWanted, false) }
        guard !isWanted else { return }
        let nap = LoopPromise<Void>()
        self.nap = nap
        let end: @Loop () -> Void = { nap.resolve(.success(())) }
        let timer = limit.map { LoopTimer(after: $0, end) } ?? LoopTimer(about: Self.longestNap, end)
        try? await nap.get()
        timer.cancel()
    }

    private func takeDue(atMost room: Int) async throws -> Int {
        isLooking = true
        defer { isLooking = false }
        // This read shares a round trip with the look at the clock.
        let mayBeDue =
            isIdle ? Loop.spawn { [outbox] in try await outbox.database.read(Self.due)[0].bool("may_be_due") } : nil
        let now = lane.mayHaveTimers ? try await trustedTime() : nil
        if now == nil, lane.mayHaveTimers, timersMayFire {
            onAlarm?(.clockJumped(onNewPrimary: timeline != trustedTimeline))
        }
        timersMayFire = now != nil || !lane.mayHaveTimers
        if let mayBeDue, try await !mayBeDue.value, delivered.isEmpty { return 0 }
        let done = delivered
        let lane = lane.without(absent?() ?? [])
        let rows = try await outbox.database.write(
            Self.claim,
            [
                .integer(Int64(room)), .timestamp(now), .uuidArray(done), .textArray(lane.destinations),
                .bool(lane.isOnly),
            ])
        delivered.removeFirst(done.count)
        for row in rows {
            inHand += 1
            Loop.spawn { [self] in await attempt(row) }
        }
        return rows.count
    }

    /// The database's time for timers; `nil` if its clock has jumped.
    ///
    /// A jump before this process started counts too, because a restart does not undo a jump.
    private func trustedTime() async throws -> Timestamp? {
        let database = outbox.database
        if !guardian.isSet, let boot = BootClock.id {
            let known = try await database.read(Self.mark, [.text(boot)]).first
            guardian = ClockGuard(offset: try known?.integer("clock_offset"))
        }
        let row = try await database.read(Self.clock)[0]
        let now = try row.timestamp("now")
        timeline = try row.text("timeline")
        if trustedTimeline.isEmpty { trustedTimeline = timeline }
        guard guardian.observe(database: now, boot: BootClock.now()) else { return nil }
        trustedTimeline = timeline
        if let offset = guardian.offsetToKeep(), let boot = BootClock.id {
            _ = try await database.write(Self.keepMark, [.text(boot), .integer(offset)])
        }
        return now
    }

    private func attempt(_ row: Row) async {
        defer {
            inHand -= 1
            // The person's next item may be delivered now.
            wake()
        }
        guard let id = try? row.uuid("id"), let attempts = try? row.integer("attempts") else { return }
        defer { for watch in outbox.watches { watch.noteAttempt(at: id) } }
        do {
            try await deliver(try item(row))
            delivered.append(id)
        } catch let unfinished as RedeliverLater {
            await putBack(row, id, for: unfinished.pause.milliseconds, countingFrom: 0)
        } catch {
            let type = try? row.optionalText("message_type").map { MessageType(rawValue: $0) }
            let isEndless = type.map { isNeverGivenUp($0) } ?? false
            let (destination, code) = ((try? row.text("destination")) ?? "", Self.code(of: error))
            // The type is of a newer release, whose replicas will deliver it. Its attempts are then counted from one.
            let unknown = ErrorCode.unknownMessage.name
            let (isTooNew, wasTooNew) = (code == unknown, (try? row.optionalText("last_error")) == unknown)
            let isAwaiting = code == ErrorCode.eventsAwaited.name
            let isDead = attempts >= Outbox.mostAttempts && !isEndless && !isTooNew && !wasTooNew && !isAwaiting
            onFailure?(destination, attempts, code)
            if isDead { onAlarm?(.deadLetter(destination, id)) }
            let pause =
                (error as? DeliveryPostponed)?.pause.milliseconds
                ?? DeliveryPause.milliseconds(
                    afterAttempt: Int(attempts), atMost: isEndless ? .seconds(15) : .seconds(60))
            await putBack(
                row, id, for: pause, error: code, isDead: isDead, countingFrom: wasTooNew && !isTooNew ? 1 : nil)
        }
    }

    /// If this fails, the lease expires and a relay takes the item again.
    ///
    /// - Parameters:
    ///   - pause: milliseconds until the item is due again.
    ///   - attempts: how many attempts count so far; `nil` leaves their number.
    private func putBack(
        _ row: Row, _ id: Identifier, for pause: Int64, error: String? = nil, isDead: Bool = false,
        countingFrom attempts: Int64?
    ) async {
        _ = try? await outbox.database.write(
            Self.postpone,
            [
                .uuid(id), .integer(pause), .bool(isDead), .text(error), .timestamp(try? row.timestamp("locked_until")),
                .integer(attempts),
            ])
    }

    /// Never an error's own text, which may contain personal data.
    private static func code(of error: any Error) -> String {
        if let postponed = error as? DeliveryPostponed { return postponed.code }
        return (error as? any BusErrorConvertible)?.busError.code ?? "\(type(of: error))"
    }

    private func item(_ row: Row) throws -> OutboxItem {
        let id = try row.uuid("id")
        return OutboxItem(
            id: id, destination: try row.text("destination"),
            messageType: try row.optionalText("message_type").map { MessageType(rawValue: $0) },
            messageVersion: UInt16(clamping: try row.integer("message_version")),
            payload: try outbox.sealer.open(try row.bytes("payload"), associated: id.array),
            attempts: Int(try row.integer("attempts")), age: .milliseconds(try row.integer("age_ms")))
    }

    private static let clock: Statement = """
        SELECT clock_timestamp() AS now, left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline
        """
    /// Whether an item may be due, in any lane. Mostly none is. A claim that finds nothing would cost PostgreSQL more
    /// than this check.
    private static let due: Statement = """
        SELECT EXISTS (
            SELECT FROM outbox WHERE dead_at IS NULL AND due_at <= (SELECT clock_timestamp())
                AND (locked_until IS NULL OR locked_until < clock_timestamp())) AS may_be_due
        """
    private static let mark: Statement = "SELECT clock_offset FROM clock_marks WHERE boot = $1"
    private static let keepMark: Statement = """
        INSERT INTO clock_marks (boot, clock_offset) VALUES ($1, $2)
        ON CONFLICT (boot) DO UPDATE SET clock_offset = excluded.clock_offset, at = excluded.at
        """
    /// The statement selects the due items once, with any plan of PostgreSQL.
    ///
    /// PostgreSQL could evaluate a sub-select once for each row. Each time it would skip the locked rows, and so take
    /// all items. It does so if the statistics say that the table is empty.
    ///
    /// Delivered items are removed first. They block nothing, and are not taken again when their lease is over. A timer
    /// is due by the time that the relay has checked, not by this statement's own time. The clock may jump between the
    /// two.
    ///
    /// The index should be read in order, and only as far as items are due, however old the statistics are. A plan that
    /// sorts reads all due items at each look. PostgreSQL chooses such a plan if it expects fewer rows than the limit.
    /// It estimates by a time, a condition on destinations or a limit that it knows while it plans. It does not know
    /// values in a sub-select.
    static let claim = Statement(
        """
        WITH \(remove("$3")), due AS MATERIALIZED (
            SELECT o.id FROM outbox o
            WHERE o.dead_at IS NULL AND o.due_at <= (SELECT clock_timestamp()) AND o.id <> ALL ($3)
                AND (o.locked_until IS NULL OR o.locked_until < clock_timestamp())
                AND (o.destination = ANY ($4)) = (SELECT $5::boolean)
                AND (o.destination NOT LIKE 'timer:%' OR o.due_at <= (SELECT $2::timestamptz))
                AND (o.person_sequence IS NULL OR NOT EXISTS (
                    SELECT 1 FROM outbox e WHERE e.destination = o.destination AND e.person_id = o.person_id
                        AND e.person_sequence < o.person_sequence AND e.id <> ALL ($3)))
            ORDER BY o.due_at LIMIT (SELECT $1::bigint) FOR UPDATE SKIP LOCKED)
        UPDATE outbox o SET locked_until = clock_timestamp() + interval '30 s', attempts = o.attempts + 1
        FROM due WHERE o.id = due.id
        RETURNING o.id, o.destination, o.message_type, o.message_version, o.payload, o.attempts, o.locked_until,
            o.last_error, (extract(epoch FROM clock_timestamp() - o.created_at) * 1000)::bigint AS age_ms
        """)
    private static let delete = Statement("WITH \(remove("$1")) SELECT")
    /// SQL that removes delivered items. It keeps a copy for ``Outbox/putBack(to:since:)`` if the receiver may lose the
    /// item. It leaves an event without a lease: that may have been put back meanwhile, and receivers ignore events
    /// that they have.
    private static func remove(_ ids: String) -> String {
        """
        done AS (
            DELETE FROM outbox WHERE id = ANY (\(ids)) AND (locked_until IS NOT NULL OR message_type IS NULL) RETURNING *
        ), kept AS (
            INSERT INTO outbox_delivered (
                id, destination, message_type, message_version, person_id, person_sequence, payload)
            SELECT id, destination, message_type, message_version,
                CASE WHEN NOT is_erased(person_id) THEN person_id END, person_sequence, payload
            FROM done WHERE message_type IS NOT NULL AND destination IN (SELECT receiver FROM event_receivers)
        )
        """
    }
    /// Only the holder of the lease may change the item. A relay that was paused for longer than the lease has lost it.
    private static let postpone: Statement = """
        UPDATE outbox SET locked_until = NULL, due_at = clock_timestamp() + $2::bigint * interval '1 ms',
            dead_at = CASE WHEN $3 THEN clock_timestamp() END, last_error = $4,
            attempts = coalesce($6::bigint, attempts)
        WHERE id = $1 AND locked_until = $5
        """
}

/// A problem that an operator must learn of.
package enum OutboxAlarm: Sendable, Equatable {
    /// The database's clock and this machine's boot clock differ by more than a minute. No timer fires.
    ///
    /// If another server has become the primary since the clock was last trusted, the two servers' clocks differ.
    case clockJumped(onNewPrimary: Bool)
    /// An item became a dead letter. It blocks later items of its person and destination.
    case deadLetter(String, Identifier)
    /// The due items cannot be read, with this error code. Nothing is delivered.
    case blind(String)
}

/// The pause between attempts: 0.2 s, doubled each time up to a limit, plus or minus a fifth.
enum DeliveryPause {
    static func milliseconds(afterAttempt attempt: Int, atMost limit: Duration) -> Int64 {
        let base = min(Int(limit.components.seconds) * 1000, 200 << min(max(attempt - 1, 0), 20))
        return Int64.random(in: Int64(base) * 4 / 5...Int64(base) * 6 / 5)
    }
}
