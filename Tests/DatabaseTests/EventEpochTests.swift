import Cryptography
import EventLoop
import TestSupport
import Testing
import Values

@testable import Database

/// Two services with a database each. The receiver's falls back to an earlier moment.
@Suite("event epochs") @Loop struct EventEpochTests {
    private static let (shop, mail) = (ServiceName(rawValue: "shop"), ServiceName(rawValue: "mail"))
    private let person = Identifier.random()

    /// A shop that sends events to a mail service.
    @Loop private final class Pair {
        let producer: ScratchDatabase
        let receiver: ScratchDatabase
        let outbox: Outbox
        let inbox: Database
        private lazy var relay = OutboxRelay(outbox) { [unowned self] in try await take($0) }
        /// The numbers of the accepted events, in order.
        private(set) var accepted: [Int64] = []
        private(set) var refusals: [String] = []

        init() async throws {
            producer = try await ScratchDatabase.make(schema: "shop")
            receiver = try await ScratchDatabase.make(schema: "mail")
            let (database, inbox) = (Database(producer.configuration()), Database(receiver.configuration()))
            self.inbox = inbox
            outbox = Outbox(database: database, keys: try KeyRing(contents: KeyRing.generate(id: "k")))
            relay.onFailure = { [unowned self] in refusals.append($2) }
            for database in [database, inbox] {
                database.start()
                try await database.waitUntilAvailable()
            }
            Loop.spawn { [relay] in await relay.run() }
        }

        private func take(_ item: OutboxItem) async throws {
            guard let text = String(bytes: item.payload, encoding: .utf8)?.split(separator: " "),
                let person = Identifier(String(text[0])), let sequence = Int64(text[1])
            else { return }
            let isNew = try await inbox.transaction {
                try await EventPosition.accept(sequence, about: person, from: EventEpochTests.shop, in: $0)
            }
            if isNew { accepted.append(sequence) }
        }

        func publish(about person: Identifier) async throws {
            try await outbox.database.transaction { try await publish(about: person, in: $0) }
        }

        func publish(about person: Identifier, in transaction: Transaction) async throws {
            try await outbox.publish(
                "shop.sold", version: 1, about: person, to: [EventEpochTests.mail], in: transaction
            ) { Array("\(person) \($0)".utf8) }
        }

        /// Does what the producer does each ten seconds.
        ///
        /// - Returns: how many events were put back.
        func agree(in cluster: String = "another") async throws -> Int64 {
            let (shop, mail) = (EventEpochTests.shop, EventEpochTests.mail)
            let known = try await outbox.knowledge(of: mail)
            let present = try await EventEpoch.agree(
                on: known.epoch, in: cluster, at: known.now, with: shop, over: inbox)
            let isAnother = known.epoch != nil && present.epoch != known.epoch
            let count = isAnother ? try await outbox.putBack(to: mail, since: present.since) : 0
            try await outbox.note(present.epoch, of: mail)
            _ = try await EventEpoch.agree(on: present.epoch, in: cluster, at: known.now, with: shop, over: inbox)
            try await outbox.release(to: mail)
            return count
        }

        func waitUntilDelivered(_ count: Int) async throws {
            let left = "SELECT count(*) FROM outbox"
            #expect(try await eventually { try await producer.query(left) == "0" && accepted.count == count })
        }

        /// The receiver's database is a copy of the time when it had accepted a number of events.
        func fallBack(to count: Int) async throws {
            let last = count == 0 ? "DELETE FROM event_positions" : "UPDATE event_positions SET last = \(count)"
            try await receiver.query("\(last); UPDATE event_producers SET epoch = 'former', run = 'former'")
            try await producer.query("UPDATE event_receivers SET epoch = 'former'")
            accepted = Array(accepted.prefix(count))
        }

        func stopRelay() async { await relay.stop() }

        func stop() async {
            await stopRelay()
            outbox.database.close()
            inbox.close()
        }
    }

    @Test func bringLostEventsBackBeforeNewerOnes() async throws {
        let pair = try await Pair()
        #expect(try await pair.agree() == 0)
        for _ in 0..<3 { try await pair.publish(about: person) }
        try await pair.waitUntilDelivered(3)
        #expect(try await pair.agree() == 0, "it is the same epoch")
        try await pair.fallBack(to: 1)
        // A newer event comes first, and is not accepted yet.
        try await pair.publish(about: person)
        #expect(try await eventually { pair.refusals.contains("events_awaited") })
        #expect(pair.accepted == [1])
        #expect(try await pair.agree() == 3)
        try await pair.waitUntilDelivered(4)
        #expect(pair.accepted == [1, 2, 3, 4], "each once and in order, without the one that was not lost")
        await pair.stop()
    }

    @Test func aNewEpochSkipsEventsThatTheReceiverStillHas() async throws {
        let pair = try await Pair()
        #expect(try await pair.agree() == 0)
        for _ in 0..<3 { try await pair.publish(about: person) }
        try await pair.waitUntilDelivered(3)
        // Its data end two minutes ago, by what the shop told it.
        try await pair.receiver.query("UPDATE event_producers SET at = at - interval '2 min'")
        try await pair.producer.query(
            "UPDATE outbox_delivered SET delivered_at = delivered_at - interval '4 min' WHERE person_sequence = 1")
        try await pair.fallBack(to: 1)
        #expect(try await pair.agree() == 2)
        try await pair.waitUntilDelivered(3)
        // It was never told by these data.
        try await pair.fallBack(to: 0)
        try await pair.receiver.query("DELETE FROM event_producers")
        #expect(try await pair.agree() == 3)
        try await pair.waitUntilDelivered(3)
        await pair.stop()
    }

    /// The event of a deletion is kept without the person, of whom nothing else is left.
    @Test func bringADeletionBack() async throws {
        let pair = try await Pair()
        #expect(try await pair.agree() == 0)
        try await pair.publish(about: person)
        try await pair.waitUntilDelivered(1)
        try await pair.outbox.database.transaction { transaction in
            Erasure.withdraw(person, in: transaction)
            try await pair.publish(about: person, in: transaction)
            Erasure.erase(person, in: transaction)
        }
        try await pair.waitUntilDelivered(2)
        #expect(
            try await eventually {
                try await pair.producer.query("SELECT person_id IS NULL, person_sequence FROM outbox_delivered")
                    == "t|2"
            })
        try await pair.fallBack(to: 1)
        #expect(try await pair.agree() == 1)
        try await pair.waitUntilDelivered(2)
        await pair.stop()
    }

    /// A server that only restarted has lost nothing.
    @Test func stayTheSameWhenTheServerRestarts() async throws {
        let pair = try await Pair()
        #expect(try await pair.agree() == 0)
        try await pair.receiver.query("UPDATE event_producers SET run = 'former'")
        try await pair.publish(about: person)
        try await pair.waitUntilDelivered(1)
        #expect(pair.refusals.isEmpty)
        #expect(try await pair.agree() == 0)
        #expect(try await pair.receiver.query("SELECT run = database_run() FROM event_producers") == "t")
        await pair.stop()
    }

    @Test func aNewEpochWaitsForEventsBeingPutBackElsewhere() async throws {
        let pair = try await Pair()
        #expect(try await pair.agree() == 0)
        await pair.stopRelay()
        try await pair.producer.query(
            """
            INSERT INTO outbox_delivered (id, destination, message_type, message_version, person_id, person_sequence, payload)
            SELECT gen_random_uuid(), 'mail', 'shop.sold', 1, gen_random_uuid(), 1, '' FROM generate_series(1, 3500)
            """)
        let left = "SELECT count(*) FROM outbox_delivered"
        let counts = try await atOnce(3) {
            let count = try await pair.outbox.putBack(to: Self.mail, since: nil)
            #expect(try await pair.producer.query(left) == "0", "what it waits for is there")
            return count
        }
        #expect(counts.reduce(0, +) == 3500)
        #expect(try await pair.producer.query("SELECT count(*) FROM outbox") == "3500")
        await pair.stop()
    }

    /// A relay that took a newer event before would deliver it first. One that took it later saw what was put back.
    @Test func puttingBackWaitsOnlyForEarlierDeliveries() async throws {
        let pair = try await Pair()
        #expect(try await pair.agree() == 0)
        let held = """
            INSERT INTO outbox (id, destination, payload, due_at, locked_until)
            VALUES (gen_random_uuid(), 'mail', '', now(), now() + interval '300 ms'),
                (gen_random_uuid(), 'mail', '', now(), now() + interval '1 hour')
            """
        try await pair.producer.query(held)
        _ = try await pair.outbox.putBack(to: Self.mail, since: nil)
        let ended = "SELECT count(*) FROM outbox WHERE locked_until < now() OR locked_until IS NULL OR attempts > 0"
        #expect(try await pair.producer.query(ended) == "1")
        await pair.stop()
    }

    /// Both fall back to the same moment.
    @Test func servicesOfOneClusterNeedNoEpochs() async throws {
        let pair = try await Pair()
        let cluster = try await pair.outbox.knowledge(of: Self.mail).cluster
        #expect(try await pair.agree(in: cluster) == 0)
        try await pair.publish(about: person)
        try await pair.waitUntilDelivered(1)
        let rows = """
            SELECT (SELECT count(*) FROM outbox_delivered), (SELECT count(*) FROM event_receivers)
            """
        #expect(try await pair.producer.query(rows) == "0|0")
        #expect(try await pair.receiver.query("SELECT count(*) FROM event_producers") == "0")
        // A database of its own, and back.
        #expect(try await pair.agree() == 0)
        #expect(try await pair.receiver.query("SELECT count(*) FROM event_producers") == "1")
        #expect(try await pair.agree(in: cluster) == 0)
        #expect(try await pair.producer.query(rows) == "0|0")
        #expect(try await pair.receiver.query("SELECT count(*) FROM event_producers") == "0")
        await pair.stop()
    }

    @Test func keepDeliveredEventsForAnHourBeforeTheLastAgreement() async throws {
        let pair = try await Pair()
        #expect(try await pair.agree() == 0)
        let (kept, deleted) = (Identifier.random(), Identifier.random())
        for person in [person, kept, deleted] { try await pair.publish(about: person) }
        try await pair.waitUntilDelivered(3)
        try await pair.outbox.database.transaction { Erasure.withdraw(deleted, in: $0) }
        // The receiver is away for two hours, so what it had taken before may still be lost.
        let later = { (time: String) in
            """
            UPDATE outbox_delivered SET delivered_at = delivered_at - interval '\(time)';
            UPDATE event_receivers SET at = at - interval '\(time)'
            """
        }
        try await pair.producer.query(later("2 hours"))
        try await pair.outbox.purgeDelivered()
        #expect(try await pair.producer.query("SELECT count(*) FROM outbox_delivered") == "2")
        try await pair.producer.query(
            "UPDATE outbox_delivered SET delivered_at = delivered_at - interval '61 min' WHERE person_id = '\(person)'")
        try await pair.outbox.purgeDelivered()
        #expect(try await pair.producer.query("SELECT person_id FROM outbox_delivered") == "\(kept)")
        await pair.stop()
    }
}
