import BusProtocol
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import Database

@Message
struct Counted: BusReply {
    @Field(.integer(0...1000)) var count: Int64
}

@Suite("inbox") @Loop struct InboxTests {
    @Loop final class ServiceParts {
        let scratch: ScratchDatabase
        let database: Database
        let inbox: Inbox

        init(_ scratch: ScratchDatabase) throws {
            self.scratch = scratch
            database = Database(scratch.configuration(poolSize: 8))
            inbox = Inbox(database: database, keys: try KeyRing(contents: KeyRing.generate(id: "k")))
            database.start()
        }

        func add(_ key: String?, body: String = "b", refuse: Bool = false, carriesToken: Bool = false) async throws -> (
            Int64, Bool
        ) {
            let request = key.map { InboxRequest(scope: "s", key: $0, type: "test.add", body: Array(body.utf8)) }
            let (reply, isReplay) = try await inbox.once(request, carriesToken: carriesToken) {
                transaction -> Outcome<Counted> in
                let rows = try await transaction.query("UPDATE counts SET n = n + 1 RETURNING n")
                if refuse { return .refusal(BusError(.otpInvalid, "No.")) }
                return .reply(Counted(count: try rows.first?.integer("n") ?? -1))
            }
            return (reply.count, isReplay)
        }

        func count() async throws -> Int64 { try await database.read("SELECT n FROM counts").first?.integer("n") ?? -1 }
    }

    private func parts() async throws -> ServiceParts {
        let migration = Migration(
            name: "m0001_counts",
            sql: "CREATE TABLE {{schema}}.counts (n bigint NOT NULL); INSERT INTO {{schema}}.counts VALUES (0)")
        let parts = try ServiceParts(try await ScratchDatabase.make(schema: "shop", migrations: [migration]))
        try await parts.database.waitUntilAvailable()
        return parts
    }

    /// Somebody takes an old key anew while it is being removed.
    @Test func aKeyTakenAgainDuringItsPurgeIsKept() async throws {
        let parts = try await parts()
        _ = try await parts.add("key")
        try await parts.scratch.query("UPDATE inbox SET expires_at = now() - interval '1 s'")
        let (isTaken, isToCommit) = (LoopPromise<Void>(), LoopPromise<Void>())
        let taking = Loop.spawn {
            try await parts.database.transaction { transaction in
                _ = try await transaction.query("UPDATE inbox SET expires_at = now() + interval '1 h' RETURNING key")
                isTaken.resolve(.success(()))
                try await isToCommit.get()
            }
        }
        try await isTaken.get()
        let purging = Loop.spawn { try await patiently { try await parts.inbox.purge() } }
        let waits =
            "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND NOT l.granted"
        try #require(
            try await eventually { try await parts.scratch.query(waits) != "0" }, "the purge waits for the row")
        isToCommit.resolve(.success(()))
        try await taking.value
        _ = try await purging.value
        #expect(try await parts.scratch.query("SELECT count(*) FROM inbox") == "1")
    }

    @Test func aRepeatedKeyIsAnsweredWithoutRepeatingTheEffect() async throws {
        let parts = try await parts()
        #expect(try await parts.add("key") == (1, false))
        #expect(try await parts.add("key") == (1, true))
        #expect(try await parts.add("other") == (2, false))
        #expect(try await parts.add(nil) == (3, false))
        #expect(try await parts.count() == 3)
    }

    @Test func anotherBodyUnderTheKeyIsRefused() async throws {
        let parts = try await parts()
        _ = try await parts.add("key")
        let error = await #expect(throws: BusError.self) { try await parts.add("key", body: "c") }
        #expect(error?.code == "idempotency_key_reused")
    }

    @Test func aRefusalWithAnEffectIsKeptToo() async throws {
        let parts = try await parts()
        for _ in 0..<2 {
            let error = await #expect(throws: BusError.self) { try await parts.add("key", refuse: true) }
            #expect(error?.code == "otp_invalid")
        }
        #expect(try await parts.count() == 1)
    }

    @Test func sixtyFourTwinsHaveOneEffect() async throws {
        let parts = try await parts()
        let tasks = (0..<64).map { _ in Loop.spawn { try await parts.add("twin").0 } }
        var answers: [Int64] = []
        for task in tasks {
            switch await task.result {
            case .success(let count): answers.append(count)
            case .failure(let error as BusError):
                #expect(error.code == "request_in_progress" || error.code == "overloaded")
            case .failure(let error as DatabaseError): #expect(error.busError.status == .overloaded)
            case .failure(let error): Issue.record(error)
            }
        }
        #expect(!answers.isEmpty && answers.allSatisfy { $0 == 1 })
        #expect(try await parts.count() == 1)
    }

    @Test func anAnswerWithATokenIsGoneAfterAMinute() async throws {
        let parts = try await parts()
        _ = try await parts.add("key", carriesToken: true)
        #expect(try await parts.add("key", carriesToken: true).1)
        try await parts.scratch.query("UPDATE inbox SET reply_until = now() - interval '1 s'")
        let error = await #expect(throws: BusError.self) { try await parts.add("key", carriesToken: true) }
        #expect(error?.code == "idempotency_answer_gone")
        #expect(try await parts.count() == 1)
    }

    @Test func anExpiredKeyIsPurgedAndFree() async throws {
        let parts = try await parts()
        _ = try await parts.add("key")
        try await parts.scratch.query("UPDATE inbox SET expires_at = now() - interval '1 s'")
        #expect(try await parts.add("key") == (2, false))
        try await parts.scratch.query("UPDATE inbox SET expires_at = now() - interval '1 s'")
        #expect(try await parts.inbox.purge() == false)
        #expect(try await parts.scratch.query("SELECT count(*) FROM inbox") == "0")
    }

    @Test func repliesAreSealedInTheTable() async throws {
        let parts = try await parts()
        _ = try await parts.add("key")
        #expect(try await parts.scratch.query("SELECT position('count'::bytea in reply) FROM inbox") == "0")
    }
}
