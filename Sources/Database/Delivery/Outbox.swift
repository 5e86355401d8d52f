import Cryptography
import EventLoop
import JSONText
import Values

/// A message or a timer that is due.
package struct OutboxItem: Sendable {
    /// The ID of the item.
    package let id: Identifier
    /// The receiving service, or the name of a deliverer of the service itself: `sms`, `push`, `timer:hold-ended`.
    package let destination: String
    /// The type of the message; `nil` if the item is no message on the bus.
    package let messageType: MessageType?
    /// The version of the message's shape.
    package let messageVersion: UInt16
    /// The content of the item.
    package let payload: [UInt8]
    /// The number of attempts, including this one.
    package let attempts: Int
    /// The age of the item when this attempt started, by the database's clock.
    package let age: Duration
}

/// Messages that are sent if their transaction commits, and timers that fire once for all replicas.
@Loop package final class Outbox {
    let database: Database
    let sealer: Sealer
    /// Called when an item for the destination may be due; `nil` stands for every destination.
    var onEnqueue: [@Loop (String?) -> Void] = []

    /// The watches that learn of each attempt to deliver an item.
    var watches: [DeliveryWatch] = []

    /// The number of attempts before an item becomes a dead letter.
    package nonisolated static let mostAttempts = 10

    /// Takes the database and the keys that encrypt the content.
    package init(database: Database, keys: KeyRing) {
        self.database = database
        sealer = Sealer(keys, purpose: "outbox")
    }

    /// Publishes an event to services, in the order of the person's events. No event about a deleted person is
    /// published.
    ///
    /// - Parameters:
    ///   - watch: waits for the first attempt to deliver the event.
    ///   - body: makes the event from its sequence number among the events about the person, which rises.
    package func publish(
        _ type: MessageType, version: UInt16, about person: Identifier, to services: [ServiceName],
        watch: DeliveryWatch? = nil, in transaction: Transaction, body: (Int64) throws -> [UInt8]
    ) async throws {
        let rows = try await transaction.query(Self.nextSequence, [.uuid(person)])
        guard let sequence = try rows.first?.integer("last") else { return }
        let body = try body(sequence)
        let items = services.map { ($0, Identifier.ordered()) }
        for (service, id) in items {
            transaction.send(
                Self.insertEvent,
                [
                    .uuid(id), .text(service.rawValue), .text(type.rawValue), .integer(Int64(version)), .uuid(person),
                    .integer(sequence), .bytes(sealer.seal(body, associated: id.array)),
                ])
        }
        watch?.expect(items.map(\.1))
        for service in services { lookNow(for: service.rawValue, after: transaction) }
    }

    /// Passes an item to the service's own deliverers, now or when it is due by the database's clock.
    package func enqueue(
        _ destination: String, id: Identifier = .ordered(), payload: [UInt8], dueAt: Timestamp? = nil,
        in transaction: Transaction
    ) {
        let sealed = sealer.seal(payload, associated: id.array)
        transaction.send(
            Self.insert, [.uuid(id), .text(destination), .bytes(sealed), .timestamp(dueAt)])
        if dueAt == nil { lookNow(for: destination, after: transaction) }
    }

    /// A relay that looks before the commit would find nothing and go to sleep.
    func lookNow(for destination: String, after transaction: Transaction) {
        transaction.afterCommit { [weak self] in self?.onEnqueue.forEach { $0(destination) } }
    }

    /// Makes the relays look at once. For code that makes an item due in another way.
    package func lookNow() { onEnqueue.forEach { $0(nil) } }

    /// In each run of the server, numbers begin with the time of the first event, in µs.
    ///
    /// If the data are those of an earlier moment, a new run has begun: by a start, a failover or a restored schema.
    /// Without new numbers, new events would get the numbers of the lost ones, and receivers would ignore them as
    /// known. If several transactions are the first of a run at the same time, each notes a number, so that none waits
    /// for another.
    private static let nextSequence: Statement = """
        INSERT INTO outbox_sequences AS s (person_id, last)
        SELECT $1, coalesce(
            (SELECT min(first) FROM event_runs WHERE run = (SELECT database_run())), begin_event_run())
        WHERE NOT is_erased($1)
        ON CONFLICT (person_id) DO UPDATE SET last = greatest(s.last + 1, excluded.last) RETURNING last
        """
    private static let insertEvent: Statement = """
        INSERT INTO outbox (id, destination, message_type, message_version, person_id, person_sequence, payload, due_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
        """
    private static let insert: Statement = """
        INSERT INTO outbox (id, destination, payload, due_at) VALUES ($1, $2, $3, coalesce($4, clock_timestamp()))
        """
}

/// The receiver's side: it accepts no event twice.
@Loop package enum EventPosition {
    /// Records an event in the transaction of its effect.
    ///
    /// - Returns: false if this event or a later one of the same producer and person was accepted before, or if the
    ///   person was deleted.
    /// - Throws: ``BusError`` `events_awaited` until the producer has put the lost events back, if this database fell
    ///   back: see ``EventEpoch``.
    package static func accept(
        _ sequence: Int64, about person: Identifier, from producer: ServiceName, in transaction: Transaction
    ) async throws -> Bool {
        // Waits for a running deletion, so that the next statement sees its mark.
        Erasure.wait(for: person, in: transaction)
        let row = try await transaction.query(
            advance, [.text(producer.rawValue), .uuid(person), .integer(sequence)])[0]
        guard try row.bool("is_agreed") else { throw EventEpoch.isUnknown }
        return try row.bool("is_accepted")
    }

    private static let advance: Statement = """
        WITH agreement AS (
            -- The run is known without reading a file.
            SELECT NOT EXISTS (SELECT FROM event_producers WHERE producer = $1
                AND run <> database_run() AND epoch <> database_epoch()) AS is_agreed
        ), accepted AS (
            INSERT INTO event_positions AS p (producer, person_id, last)
            SELECT $1, $2, $3 FROM agreement WHERE is_agreed AND NOT is_erased($2)
            ON CONFLICT (producer, person_id) DO UPDATE SET last = excluded.last WHERE p.last < excluded.last
            RETURNING last
        )
        SELECT is_agreed, EXISTS (SELECT FROM accepted) AS is_accepted FROM agreement
        """
}
