import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("dead letters") @Loop struct DeadLettersTests {
    /// Whether something is given up; the pauses between attempts are over at once.
    private func hasGivenUp(_ parts: OutboxTests.ServiceParts) async throws -> Bool {
        try await eventually(within: .seconds(20)) {
            try await parts.scratch.query(
                "UPDATE outbox SET due_at = clock_timestamp() WHERE dead_at IS NULL AND locked_until IS NULL")
            parts.outbox.lookNow()
            return try await parts.scratch.query("SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL") != "0"
        }
    }

    @Test func aDeadLetterHoldsOnlyItsPersonsQueueUntilReplayed() async throws {
        let parts = try OutboxTests.ServiceParts(try await ScratchDatabase.make(schema: "shop"))
        try await parts.database.waitUntilAvailable()
        let letters = DeadLetters(database: parts.database)
        let (person, other) = (Identifier.random(), Identifier.random())
        parts.refused = person
        for _ in 0..<3 { for someone in [person, other] { try await parts.publishEvent(someone) } }
        for _ in 0..<3 { parts.startRelay() }
        try #require(try await hasGivenUp(parts))
        #expect(parts.refusals == 10)
        try await parts.publishEvent(other)
        let told = try await parts.delivered(4)
        #expect(told.map(\.person) == [other, other, other, other] && told.map(\.sequence) == [1, 2, 3, 4])

        let letter = try #require(try await letters.list().first)
        #expect(try await letters.list().count == 1)
        #expect(letter.destination == "profile" && letter.messageType == AccountCreated.type)
        #expect(letter.personID == person && letter.personSequence == 1 && letter.waiting == 2)
        #expect(letter.attempts == 10 && letter.lastError == "not_implemented")

        parts.refused = nil
        #expect(try await letters.replay([.random(), letter.id]) == [letter.id])
        #expect(try await letters.replay([letter.id]) == [])
        #expect(try await letters.replay(nil) == [])
        let all = try await parts.delivered(7)
        #expect(all.filter { $0.person == person }.map(\.sequence) == [1, 2, 3])
        #expect(try await letters.list() == [])
        await parts.stop()
    }

    @Test func deadLettersAreCountedApartFromDueAndLaterEvents() async throws {
        let parts = try OutboxTests.ServiceParts(try await ScratchDatabase.make(schema: "shop"))
        try await parts.database.waitUntilAvailable()
        #expect(try await OutboxStatistics.look(in: parts.database) == OutboxStatistics())
        let person = Identifier.random()
        for someone in [person, person, .random(), .random()] { try await parts.publishEvent(someone) }
        // One was tried a moment ago, and will be again.
        try await parts.scratch.query(
            """
            UPDATE outbox SET created_at = now() - interval '90 s', due_at = now() + interval '40 s'
            WHERE id = (SELECT max(id::text)::uuid FROM outbox);
            UPDATE outbox SET dead_at = now() WHERE person_id = '\(person)' AND person_sequence = 1;
            UPDATE outbox SET created_at = now() - interval '1 h' WHERE person_id = '\(person)'
            """)
        try await parts.publishEvent(.random())
        try await parts.database.transaction { parts.outbox.enqueue("timer:test", payload: [1], in: $0) }
        try await parts.scratch.query(
            "UPDATE outbox SET due_at = clock_timestamp() + interval '72 h' WHERE destination = 'timer:test'")
        let statistics = try await OutboxStatistics.look(in: parts.database)
        #expect(statistics.due == 3 && statistics.dead == 1)
        #expect((90..<120).contains(statistics.oldestSeconds))
        await parts.stop()
    }

    @Test func deadLettersOfAllDestinationsAreReplayedAtOnce() async throws {
        let parts = try OutboxTests.ServiceParts(try await ScratchDatabase.make(schema: "shop"))
        try await parts.database.waitUntilAvailable()
        let letters = DeadLetters(database: parts.database)
        for _ in 0..<2 { try await parts.publishEvent(.random()) }
        try await parts.database.transaction { parts.outbox.enqueue("timer:test", payload: [1], in: $0) }
        try await parts.scratch.query("UPDATE outbox SET dead_at = now(), attempts = 10")
        #expect(try await letters.list().map(\.destination).sorted() == ["profile", "profile", "timer:test"])
        #expect(try await letters.list().allSatisfy { $0.lastError == nil && $0.waiting == 0 })
        #expect(try await letters.replay(nil).count == 3)
        parts.startRelay()
        _ = try await parts.delivered(3)
        await parts.stop()
    }
}
