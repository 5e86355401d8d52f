import EventLoop
import Foundation
import Values

/// Which items a relay takes: what is slow to deliver has a relay of its own, and leaves the others' alone.
public struct OutboxLane: Sendable {
    let destinations: [String]
    /// These, else all but these.
    let isOnly: Bool

    public static let all = OutboxLane(destinations: [], isOnly: false)
    public static func only(_ destination: String) -> OutboxLane {
        OutboxLane(destinations: [destination], isOnly: true)
    }
    public static func allBut(_ destinations: [String]) -> OutboxLane {
        OutboxLane(destinations: destinations, isOnly: false)
    }

    /// The lane without what is for these.
    func without(_ absent: [String]) -> OutboxLane {
        isOnly
            ? OutboxLane(destinations: destinations.filter { !absent.contains($0) }, isOnly: true)
            : OutboxLane(destinations: destinations + absent, isOnly: false)
    }
}

/// A deliverer's word that its attempt failed, with the time at which it wants the next one instead of the outbox's.
public struct DeliveryPostponed: Error, Equatable {
    public let pause: Duration
    /// Of why; stands in the log.
    public let code: String
    public init(pause: Duration, code: String) { (self.pause, self.code) = (pause, code) }
}

/// Delivers what is due: at least once, in order per person and destination, on whichever replica looks first.
@Loop public final class OutboxRelay {
    private let outbox: Outbox
    private let lane: OutboxLane
    private let deliver: @Loop (OutboxItem) async throws -> Void
    private var isStopped = false
    private var nap: LoopPromise<Void>?
    private var isWanted = false
    private var guardian = ClockGuard()
    /// Deliveries under way: a slow one keeps no other waiting.
    private var inHand = 0
    /// What was delivered and still stands in the table: it goes with the next look, so that many share a commit.
    private var delivered: [Identifier] = []
    private var isLooking = false
    /// The code of what the last look failed with.
    private var blindness: String?
    private var timersMayFire = true
    /// Whether the database's clock went on with this machine's boot clock, as far as was seen at the last look.
    public var trustsClock: Bool { timersMayFire }
    /// Told when the database's clock jumped, and of each item that is a dead letter now.
    public var onAlarm: (@Loop (OutboxAlarm) -> Void)?
    /// Asked for the destinations that nobody is at: what is for them waits untried, and takes no place from the rest.
    public var absent: (@Loop () -> [String])?
    /// Asked whether messages of a type are tried until they are delivered, at least each 20 s, and never a dead letter.
    public var isNeverGivenUp: @Loop (MessageType) -> Bool = { _ in false }
    /// Told of each attempt that failed: where to, the how-manieth it was, and the code of why.
    public var onFailure: (@Loop (String, Int64, String) -> Void)?

    private static let batch = 32
    private static let longestNap = Duration.milliseconds(500)
    private static let longestGathering = Duration.milliseconds(20)

    /// - Parameter deliver: returns when the item is safe elsewhere; whatever it throws counts as a failed attempt.
    public init(
        _ outbox: Outbox, _ lane: OutboxLane = .all, deliver: @escaping @Loop (OutboxItem) async throws -> Void
    ) {
        (self.outbox, self.lane) = (outbox, lane)
        self.deliver = deliver
    }

    /// Runs until `stop`.
    public func run() async {
        outbox.onEnqueue.append { [weak self] in self?.wake() }
        while !isStopped {
            let room = Self.batch - inHand
            let taken = room > 0 ? await look(for: room) : 0
            if taken < room || room <= 0, !isStopped { await rest() } else { await makeRoom() }
        }
    }

    /// More is due than there was room for: the next look is for many, since one costs as much as one for a single item. What
    /// hangs keeps the others waiting for a moment only.
    private func makeRoom() async {
        let end = MonotonicClock.now() + Self.longestGathering.nanoseconds
        while !isStopped, inHand > Self.batch / 2, MonotonicClock.now() < end {
            await rest(atMost: Self.longestGathering)
        }
    }

    /// A queue that cannot be looked at is told once; a database that is away, others tell of.
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

    /// Begins nothing new; returns when what is in hand is delivered or has failed.
    public func stop() async {
        isStopped = true
        wake()
        while inHand > 0 || isLooking { try? await Loop.sleep(for: .milliseconds(2)) }
        if !delivered.isEmpty { _ = try? await outbox.database.write(Self.delete, [.uuidArray(delivered)]) }
    }

    /// A wake that comes while the relay looks is not lost: it looks once more.
    private func wake() {
        isWanted = true
        nap?.resolve(.success(()))
    }

    private func rest(atMost limit: Duration = longestNap) async {
        defer { isWanted = false }
        guard !isWanted else { return }
        let nap = LoopPromise<Void>()
        self.nap = nap
        let timer = LoopTimer(after: limit) { nap.resolve(.success(())) }
        try? await nap.get()
        timer.cancel()
    }

    private func takeDue(atMost room: Int) async throws -> Int {
        isLooking = true
        defer { isLooking = false }
        let now = try await trustedTime()
        if now == nil, timersMayFire { onAlarm?(.clockJumped) }
        timersMayFire = now != nil
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

    /// The database's time, which timers are held against; `nil` where its clock has jumped.
    ///
    /// What was so before this process began counts, too: a jump is none the less one for a restart.
    private func trustedTime() async throws -> Timestamp? {
        let database = outbox.database
        if !guardian.isSet, let boot = BootClock.id {
            let known = try await database.read(Self.mark, [.text(boot)]).first
            guardian = ClockGuard(offset: try known?.integer("clock_offset"))
        }
        let now = try await database.read(Self.clock).first?.timestamp("now") ?? .now()
        guard guardian.observe(database: now, boot: BootClock.now()) else { return nil }
        if let offset = guardian.offsetToKeep(), let boot = BootClock.id {
            _ = try await database.write(Self.keepMark, [.text(boot), .integer(offset)])
        }
        return now
    }

    private func attempt(_ row: Row) async {
        defer {
            inHand -= 1
            // The next of the same person may go now.
            wake()
        }
        guard let id = try? row.uuid("id"), let attempts = try? row.integer("attempts") else { return }
        do {
            try await deliver(try item(row))
            delivered.append(id)
        } catch {
            let type = try? row.optionalText("message_type").map { MessageType(rawValue: $0) }
            let isEndless = type.map { isNeverGivenUp($0) } ?? false
            let (destination, code) = ((try? row.text("destination")) ?? "", Self.code(of: error))
            // Of a newer release, whose replicas take it when they are there. What it fails with then is counted from one on.
            let unknown = ErrorCode.unknownMessage.name
            let (isTooNew, wasTooNew) = (code == unknown, (try? row.optionalText("last_error")) == unknown)
            let isDead = attempts >= Outbox.mostAttempts && !isEndless && !isTooNew && !wasTooNew
            onFailure?(destination, attempts, code)
            if isDead { onAlarm?(.deadLetter(destination, id)) }
            let pause =
                (error as? DeliveryPostponed)?.pause.milliseconds
                ?? DeliveryPause.milliseconds(
                    afterAttempt: Int(attempts), atMost: isEndless ? .seconds(15) : .seconds(60))
            // Where this fails too, the lease runs out and the item is taken again.
            _ = try? await outbox.database.write(
                Self.postpone,
                [
                    .uuid(id), .integer(pause), .bool(isDead), .text(code),
                    .timestamp(try? row.timestamp("locked_until")),
                    .bool(wasTooNew && !isTooNew),
                ])
        }
    }

    /// Never an error's own text, which may tell of a person.
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

    private static let clock: Statement = "SELECT clock_timestamp() AS now"
    private static let mark: Statement = "SELECT clock_offset FROM clock_marks WHERE boot = $1"
    private static let keepMark: Statement = """
        INSERT INTO clock_marks (boot, clock_offset) VALUES ($1, $2)
        ON CONFLICT (boot) DO UPDATE SET clock_offset = excluded.clock_offset, at = excluded.at
        """
    /// What is due is found once, whatever the plan: as a sub-select, PostgreSQL may look anew for each row, each time
    /// behind what is locked already, and take them all. It does so where it last saw the table empty.
    ///
    /// What was delivered goes first: it keeps nothing waiting, and is not taken again where its lease is over. A timer is due by
    /// the time that was looked at, and not by this statement's own: the clock may jump between the two.
    ///
    /// The index is to be read in order and no further than what is due, however old the statistics are: a plan that sorts reads
    /// all that is due at each look. PostgreSQL makes one where it takes fewer rows to come than are asked for: by a time, a
    /// condition on destinations or a limit that it knows while it plans. What stands in a sub-select it does not.
    static let claim: Statement = """
        WITH done AS (
            DELETE FROM outbox WHERE id = ANY ($3)
        ), due AS MATERIALIZED (
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
        """
    private static let delete: Statement = "DELETE FROM outbox WHERE id = ANY ($1)"
    /// By whoever has the lease: who stood still for longer than that finds it another's.
    private static let postpone: Statement = """
        UPDATE outbox SET locked_until = NULL, due_at = clock_timestamp() + $2::bigint * interval '1 ms',
            dead_at = CASE WHEN $3 THEN clock_timestamp() END, last_error = $4,
            attempts = CASE WHEN $6 THEN 1 ELSE attempts END
        WHERE id = $1 AND locked_until = $5
        """
}

/// What an operator must hear of.
public enum OutboxAlarm: Sendable, Equatable {
    /// The database's clock and this machine's boot clock parted by more than a minute: no timer is released.
    case clockJumped
    /// An item was given up; it keeps later ones of its person and destination waiting.
    case deadLetter(String, Identifier)
    /// What is due cannot be found, for the reason with that code: nothing is delivered.
    case blind(String)
}

/// Pauses between attempts: 0.2 s doubled each time up to a limit, plus or minus a fifth.
enum DeliveryPause {
    static func milliseconds(afterAttempt attempt: Int, atMost limit: Duration) -> Int64 {
        let base = min(Int(limit.components.seconds) * 1000, 200 << min(max(attempt - 1, 0), 20))
        return Int64.random(in: Int64(base) * 4 / 5...Int64(base) * 6 / 5)
    }
}

/// Nanoseconds since boot, sleep included: a machine that slept finds the database's clock gone on as far.
enum BootClock {
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Of this boot of this machine; `nil` where the kernel does not say.
    static let id: String? = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text.map { String($0.prefix { !$0.isWhitespace }) }.flatMap { $0.isEmpty ? nil : $0 }
    }()
}

/// Compares the database's clock with the boot clock, which nobody sets, so that a jump releases no hold.
struct ClockGuard {
    /// By how many microseconds the database's clock is ahead, as of the last time that both went on together.
    private var offset: Int64?
    /// What of that is written down.
    private var kept: Int64?
    /// Microseconds.
    static let tolerance: Int64 = 60_000_000

    /// - Parameter offset: as it was written down before; `nil`: the next look sets it.
    init(offset: Int64? = nil) { (self.offset, kept) = (offset, offset) }

    var isSet: Bool { offset != nil }

    /// What is to be written down, where that is new by a second.
    mutating func offsetToKeep() -> Int64? {
        guard let offset, kept.map({ abs($0 - offset) >= 1_000_000 }) ?? true else { return nil }
        kept = offset
        return offset
    }

    /// - Returns: whether timers may fire: the clocks went on together since the last time that they did.
    mutating func observe(database: Timestamp, boot: UInt64) -> Bool {
        let now = database.microsecondsSinceEpoch - Int64(boot / 1000)
        guard let known = offset else {
            offset = now
            return true
        }
        guard abs(now - known) <= Self.tolerance else { return false }
        offset = now
        return true
    }
}
