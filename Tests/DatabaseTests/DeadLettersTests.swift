import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("dead letters") @Loop struct DeadLettersTests {
    /// Whether something is given up; the pauses between attempts are over at once.
    private func hasGivenUp(_ house: OutboxTests.House) async throws -> Bool {
        try await comes(within: .seconds(20)) {
            try await house.scratch.query(
                "UPDATE outbox SET due_at = clock_timestamp() WHERE dead_at IS NULL AND locked_until IS NULL")
            house.outbox.lookNow()
            return try await house.scratch.query("SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL") != "0"
        }
    }

    @Test func keepTheirPersonsQueueAndNoOtherUntilTheyAreReplayed() async throws {
        let house = try OutboxTests.House(try await ScratchDatabase.make(schema: "shop"))
        try await house.database.waitUntilAvailable()
        let letters = DeadLetters(database: house.database)
        let (person, other) = (Identifier.random(), Identifier.random())
        house.refused = person
        for _ in 0..<3 { for someone in [person, other] { try await house.tell(someone) } }
        for _ in 0..<3 { house.startRelay() }
        try #require(try await hasGivenUp(house))
        #expect(house.refusals == 10)
        try await house.tell(other)
        let told = try await house.delivered(4)
        #expect(told.map(\.person) == [other, other, other, other] && told.map(\.sequence) == [1, 2, 3, 4])

        let letter = try #require(try await letters.list().first)
        #expect(try await letters.list().count == 1)
        #expect(letter.destination == "profile" && letter.messageType == AccountCreated.type)
        #expect(letter.personID == person && letter.personSequence == 1 && letter.waiting == 2)
        #expect(letter.attempts == 10 && letter.lastError == "not_implemented")

        house.refused = nil
        #expect(try await letters.replay([.random(), letter.id]) == [letter.id])
        #expect(try await letters.replay([letter.id]) == [])
        #expect(try await letters.replay(nil) == [])
        let all = try await house.delivered(7)
        #expect(all.filter { $0.person == person }.map(\.sequence) == [1, 2, 3])
        #expect(try await letters.list() == [])
        await house.stop()
    }

    @Test func areCountedApartFromWhatIsDueAndFromWhatIsNotDueYet() async throws {
        let house = try OutboxTests.House(try await ScratchDatabase.make(schema: "shop"))
        try await house.database.waitUntilAvailable()
        #expect(try await OutboxSight.look(in: house.database) == OutboxSight())
        let person = Identifier.random()
        for someone in [person, person, .random(), .random()] { try await house.tell(someone) }
        // One was tried a moment ago, and will be again.
        try await house.scratch.query(
            """
            UPDATE outbox SET created_at = now() - interval '90 s', due_at = now() + interval '40 s'
            WHERE id = (SELECT max(id::text)::uuid FROM outbox);
            UPDATE outbox SET dead_at = now() WHERE person_id = '\(person)' AND person_sequence = 1;
            UPDATE outbox SET created_at = now() - interval '1 h' WHERE person_id = '\(person)'
            """)
        try await house.tell(.random())
        try await house.database.transaction { house.outbox.enqueue("timer:test", payload: [1], in: $0) }
        try await house.scratch.query(
            "UPDATE outbox SET due_at = clock_timestamp() + interval '72 h' WHERE destination = 'timer:test'")
        let sight = try await OutboxSight.look(in: house.database)
        #expect(sight.due == 3 && sight.dead == 1)
        #expect((90..<120).contains(sight.oldestSeconds))
        await house.stop()
    }

    @Test func areAllReplayedAtOnceWhateverTheyAreFor() async throws {
        let house = try OutboxTests.House(try await ScratchDatabase.make(schema: "shop"))
        try await house.database.waitUntilAvailable()
        let letters = DeadLetters(database: house.database)
        for _ in 0..<2 { try await house.tell(.random()) }
        try await house.database.transaction { house.outbox.enqueue("timer:test", payload: [1], in: $0) }
        try await house.scratch.query("UPDATE outbox SET dead_at = now(), attempts = 10")
        #expect(try await letters.list().map(\.destination).sorted() == ["profile", "profile", "timer:test"])
        #expect(try await letters.list().allSatisfy { $0.lastError == nil && $0.waiting == 0 })
        #expect(try await letters.replay(nil).count == 3)
        house.startRelay()
        _ = try await house.delivered(3)
        await house.stop()
    }
}
