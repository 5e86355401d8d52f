import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// An operator splits the large tables while people answer, change answers and delete their accounts.
@Suite("tables that are split while people answer") @Loop struct SplitTableTests {
    private nonisolated static let key = "yoked-compat"
    private nonisolated static let tables = ["answers", "answer_history", "mutations"]
    /// People who do nothing. Their rows are copied in three batches.
    private nonisolated static let quiet = 2100

    /// One who answers all the time, and knows what was acknowledged.
    @Loop private final class Writer {
        let id = Identifier.random()
        var acknowledged = 0

        /// Answers until it is told to end, and 50 times at least. Then the history has been cut.
        func write(_ service: RunningService, until isOver: @escaping @Loop () -> Bool) async throws {
            let session = try await patiently {
                try await service.gateway.call(OpenSession(questionnaire: key), service.options(self.id)).id
            }
            while acknowledged < 50 || !isOver() {
                let next = acknowledged + 1
                let write = PutAnswer(
                    questionnaire: key, sessionId: session, question: "essay", mutationId: .ordered(),
                    state: .answered, value: .string("No. \(next)"))
                _ = try await patiently { try await service.gateway.call(write, service.options(self.id)) }
                acknowledged = next
            }
        }
    }

    /// Each seventh of those who do nothing deletes the account.
    @Loop private final class Deletions {
        var isOver = false
        private(set) var count = 0

        func begin(_ service: RunningService) async throws {
            while !isOver, count < quiet / 7 {
                count += 1
                _ = try await service.rows("DELETE FROM sessions WHERE person_id = md5('p' || \(count * 7))::uuid")
            }
        }
    }

    @Test func aSplitLosesNoWriteAndKeepsNoDeletedPerson() async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Sample.definition([Sample.question("essay", "text")]))
            _ = try await service.rows(
                """
                INSERT INTO sessions (person_id, session_id, questionnaire, version, content_hash)
                    SELECT md5('p' || n)::uuid, md5('s' || n)::uuid, questionnaire, version, content_hash
                    FROM definitions, generate_series(1, \(Self.quiet)) AS n WHERE (questionnaire, version) = ('\(Self.key)', 4);
                INSERT INTO answers (person_id, session_id, question, state, value, revision, changed_at)
                    SELECT person_id, session_id, 'essay', 'answered', '"before"', 1, now() FROM sessions;
                INSERT INTO answer_history (person_id, session_id, question, state, value, revision, changed_at)
                    SELECT person_id, session_id, question, state, value, revision, now() - interval '366 days' FROM answers
                """)
            let writers = (0..<8).map { _ in Writer() }
            let deletions = Deletions()
            let writing = writers.map { writer in
                Loop.spawn { try await writer.write(service) { deletions.isOver } }
            }
            let deleting = Loop.spawn { try await deletions.begin(service) }
            for table in Self.tables {
                let before = deletions.count
                try await service.stage.scratch.split(table, into: 4)
                if table == "answers" { #expect(deletions.count > before, "nobody was deleted meanwhile") }
            }
            deletions.isOver = true
            for each in writing + [deleting] { try await each.value }

            for writer in writers {
                let kept = try await service.rows(
                    """
                    SELECT value #>> '{}', revision, (SELECT max(revision) FROM answer_history WHERE person_id = a.person_id),
                        (SELECT count(*) BETWEEN 32 AND 48 FROM answer_history WHERE person_id = a.person_id),
                        (SELECT max(revision) FROM mutations WHERE person_id = a.person_id)
                    FROM answers a WHERE person_id = '\(writer.id)'
                    """)
                let last = writer.acknowledged
                #expect(kept == "No. \(last)|\(last)|\(last)|t|\(last)")
            }
            for table in Self.tables {
                let left = """
                    SELECT count(*) FROM \(table) t WHERE NOT EXISTS (
                        SELECT FROM sessions s WHERE s.person_id = t.person_id)
                    """
                #expect(try await service.rows(left) == "0")
                #expect(
                    try await service.rows("SELECT count(*) FROM pg_partition_tree('\(table)') WHERE isleaf") == "4")
            }
            #expect(
                try await service.rows("SELECT count(*) FROM answers")
                    == "\(Self.quiet - deletions.count + writers.count)")

            // Only what is old goes, from all partitions.
            while try await service.sessions.purge() {}
            #expect(
                try await service.rows(
                    "SELECT count(*) FROM answer_history WHERE changed_at < now() - interval '1 day'") == "0")
            #expect(
                try await service.rows("SELECT count(DISTINCT person_id) FROM answer_history") == "\(writers.count)")
            let sessions = service.sessions
            let first = try #require(writers.first).id
            try await service.containers[0].database.transaction { sessions.erase(first, in: $0) }
            #expect(try await service.rows("SELECT count(*) FROM answers WHERE person_id = '\(first)'") == "0")
        }
    }

    /// People who come one after the other and complete the questionnaire.
    @Loop private final class Completions {
        var isOver = false
        private(set) var count = 0

        func go(_ service: RunningService) async throws {
            while !isOver {
                let person = Identifier.random()
                let reply = try await patiently {
                    try await service.submit(
                        [ResponseItem(question: "essay", value: "I bake.")], complete: true, as: person)
                }
                #expect(reply.status == .completed)
                count += 1
            }
        }
    }

    @Test func aSplitLosesNoSnapshotAndPeopleGoOnCompleting() async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Sample.definition([Sample.question("essay", "text")]))
            let person = Identifier.random()
            try await service.submit([ResponseItem(question: "essay", value: "One")], complete: true, as: person)
            let completions = Completions()
            let completing = Loop.spawn { try await completions.go(service) }
            #expect(try await eventually { completions.count > 0 })
            let before = completions.count
            try await service.stage.scratch.split("snapshots", into: 3)
            #expect(completions.count > before, "nobody completed meanwhile")
            completions.isOver = true
            try await completing.value

            #expect(try await service.rows("SELECT count(*) FROM pg_partition_tree('snapshots') WHERE isleaf") == "3")
            let others = "SELECT count(*), count(DISTINCT person_id) FROM snapshots WHERE person_id <> '\(person)'"
            #expect(try await service.rows(others) == "\(completions.count)|\(completions.count)")

            // The next snapshot has the number after that of the one from before the split.
            let amended = try await service.submit([ResponseItem(question: "essay", value: "Two")], as: person)
            #expect(amended.status == .amended)
            let records = try await service.gateway.call(ExportAnswers(after: nil), service.options(person)).records
            let snapshots = try records.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["kind"] == "snapshot" }
            #expect(snapshots.compactMap { $0["number"]?.integerValue } == [1, 2])

            let sessions = service.sessions
            try await service.containers[0].database.transaction { sessions.erase(person, in: $0) }
            #expect(try await service.rows("SELECT count(*) FROM snapshots WHERE person_id = '\(person)'") == "0")
            #expect(try await service.rows(others) == "\(completions.count)|\(completions.count)")
        }
    }

    /// Ends the splitting of a table while it waits for the last lock.
    private static func splitAndEnd(_ table: String, _ service: RunningService) async throws {
        let held = try await service.containers[0].database.transaction { transaction in
            _ = try await transaction.query(Statement("SELECT count(*) FROM \(table)"), [])
            let splitting = Loop.spawn { try await service.stage.scratch.split(table, into: 2) }
            let waits =
                "FROM pg_stat_activity WHERE application_name = 'psql' AND wait_event_type = 'Lock' AND query LIKE '%steps text%'"
            let end = "SELECT pg_terminate_backend(pid) \(waits)"
            #expect(try await eventually { try await !service.rows(end).isEmpty })
            return splitting
        }
        await #expect(throws: ScratchCluster.Failure.self) { try await held.value }
    }

    private static func isRefused(_ reason: String, _ service: RunningService, into partitions: Int) async throws {
        let error = await #expect(throws: ScratchCluster.Failure.self) {
            try await service.stage.scratch.split("answers", into: partitions)
        }
        #expect(try #require(error).description.contains(reason))
    }

    @Test func aSplitCanBeRepeatedOrAbandoned() async throws {
        try await withService { service in
            try await service.publish(Sample.definition([Sample.question("essay", "text")]))
            let writer = Writer()
            try await writer.write(service) { true }
            try await Self.splitAndEnd("answers", service)
            try await Self.splitAndEnd("mutations", service)
            _ = try await service.rows("DROP SCHEMA questionnaire_mutations_split CASCADE")
            try await writer.write(service) { writer.acknowledged >= 80 }
            try await Self.isRefused("is being split into another number of partitions", service, into: 3)
            // A migration may have changed the table since the copy began.
            _ = try await service.rows("INSERT INTO schema_migrations (name, checksum) VALUES ('m9999_next', '')")
            try await Self.isRefused("was upgraded since", service, into: 2)
            _ = try await service.rows("DELETE FROM schema_migrations WHERE name = 'm9999_next'")
            try await service.stage.scratch.split("answers", into: 2)
            try await writer.write(service) { writer.acknowledged >= 90 }
            #expect(try await service.rows("SELECT value #>> '{}', revision FROM answers") == "No. 90|90")
            let kinds =
                "SELECT string_agg(relkind::text, '' ORDER BY relname) FROM pg_class WHERE oid IN ('answers'::regclass, 'mutations'::regclass)"
            #expect(try await service.rows(kinds) == "pr")
        }
    }
}
