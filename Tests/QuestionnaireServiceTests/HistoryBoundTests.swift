import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// What is kept of one person who never stops.
@Suite("bounds of histories") struct HistoryBoundTests {
    private static let questionnaire = "yoked-compat"
    private static let definition = Sample.definition([
        Sample.question("essay", "text"), Sample.question("choice", "single_choice"),
    ])

    /// A session that was opened a while ago.
    @Loop private static func opened(_ service: RunningService, secondsAgo: Int = 60) async throws -> (
        Identifier, Identifier
    ) {
        let person = Identifier.random()
        let session = try await service.questions(as: person).sessionId
        _ = try await service.rows(
            """
            UPDATE sessions SET opened_at = opened_at - interval '\(secondsAgo) seconds' WHERE person_id = '\(person)'
            RETURNING 1
            """)
        return (person, session)
    }

    @Loop private static func write(
        _ value: JSONValue, to question: String, in session: Identifier, of person: Identifier,
        _ service: RunningService
    ) async throws {
        let write = PutAnswer(
            questionnaire: questionnaire, sessionId: session, question: question, mutationId: .ordered(),
            state: .answered, value: value)
        _ = try await patiently { try await service.gateway.call(write, service.options(person)) }
    }

    @Loop private static func medians(_ service: RunningService) async throws -> [String: Int] {
        let admin = CallOptions(
            timeout: .seconds(10), actor: Actor(userID: .random(), sessionID: .ordered(), role: .admin))
        let found = try await service.gateway.call(GetStatistics(questionnaire: questionnaire, version: "4"), admin)
        return Dictionary(
            uniqueKeysWithValues: found.questions.compactMap { question in
                question.medianSeconds.map { (question.question, Int($0.rounded(.down))) }
            })
    }

    @Test(arguments: [1, 2]) func alternatingTwoTextsKeepsTheHistoryBounded(replicas: Int) async throws {
        try await withService(replicas: replicas) { service in
            try await service.publish(Self.definition)
            for _ in 0..<3 {
                let (person, session) = try await Self.opened(service)
                try await Self.write("Te.", to: "essay", in: session, of: person, service)
                _ = try await service.rows(
                    """
                    UPDATE answers SET changed_at = changed_at - interval '20 seconds' WHERE person_id = '\(person)';
                    UPDATE sessions SET revision = revision + 1 WHERE person_id = '\(person)' RETURNING 1
                    """)
                try await Self.write("a", to: "choice", in: session, of: person, service)
            }
            let medians = try await Self.medians(service)
            #expect(medians["essay"] == 60 && medians["choice"] == 20)

            let (person, session) = try await Self.opened(service)
            let texts = ["t", "k"].map { JSONValue.string(String(repeating: $0, count: 2000)) }
            // More than the mutations that may be left between two purges.
            let writes = Rounds.count(700, prove: 1000)
            for number in 0..<writes {
                try await Self.write(texts[number % 2], to: "essay", in: session, of: person, service)
            }
            let kept = try await service.rows(
                """
                SELECT count(*) BETWEEN 32 AND 48, max(revision) FROM answer_history WHERE person_id = '\(person)'
                UNION ALL SELECT count(*) BETWEEN 256 AND 600, max(revision) FROM mutations WHERE person_id = '\(person)'
                """)
            #expect(kept == "t|\(writes)\nt|\(writes)")
            #expect(try await service.rows("SELECT revision FROM answers WHERE person_id = '\(person)'") == "\(writes)")
            #expect(try await Self.medians(service) == medians, "one person is one of four")
        }
    }

    /// Each write has the same value and another ID. It changes nothing, but its ID is stored.
    @Test func repeatingOneAnswerKeepsTheMutationsBounded() async throws {
        try await withService { service in
            try await service.publish(Self.definition)
            let (person, session) = try await Self.opened(service)
            for _ in 0..<800 { try await Self.write("a", to: "choice", in: session, of: person, service) }
            #expect(try await service.rows("SELECT count(*) BETWEEN 256 AND 600 FROM mutations") == "t")
            #expect(try await service.rows("SELECT count(*) FROM answer_history") == "1")
        }
    }

    /// Each change of a completed session is another snapshot.
    @Test func theFirstSnapshotAndTheLastOnesAreKept() async throws {
        try await withService { service in
            try await service.publish(Self.definition)
            let person = Identifier.random()
            try await service.submit(
                [ResponseItem(question: "essay", value: "No. 1")], complete: true, as: person, key: nil)
            for number in 2...30 {
                let item = ResponseItem(question: "essay", value: .string("No. \(number)"))
                try await service.submit([item], as: person, key: nil)
            }
            let kept =
                "SELECT string_agg(number || ':' || (answers -> 'essay' ->> 'value'), ' ' ORDER BY number) FROM snapshots"
            #expect(
                try await service.rows(kept) == ([1] + (23...30)).map { "\($0):No. \($0)" }.joined(separator: " "))
        }
    }

    @Test func oldHistoryAndMutationsAreDeleted() async throws {
        try await withService { service in
            try await service.publish(Self.definition)
            let (person, session) = try await Self.opened(service)
            for value in ["a", "b", "c"] {
                try await Self.write(.string(value), to: "choice", in: session, of: person, service)
            }
            _ = try await service.rows(
                """
                UPDATE answer_history SET changed_at = now() - interval '366 days' WHERE revision = 1;
                UPDATE answer_history SET changed_at = now() - interval '364 days' WHERE revision = 2;
                UPDATE mutations SET at = now() - interval '31 days' WHERE revision = 1;
                UPDATE mutations SET at = now() - interval '29 days' WHERE revision = 2 RETURNING 1
                """)
            #expect(try await !service.sessions.purge())
            let kept = "string_agg(revision::text, ' ' ORDER BY revision)"
            #expect(try await service.rows("SELECT \(kept) FROM answer_history") == "2 3")
            #expect(try await service.rows("SELECT \(kept) FROM mutations") == "2 3")
            #expect(try await service.rows("SELECT value FROM answers") == "\"c\"")
        }
    }

    /// Each replica looks for old rows each hour, among all that are not old.
    @Test(arguments: [
        (
            "answer_history", "SELECT purge_history(1000)",
            """
            INSERT INTO answer_history (person_id, session_id, question, revision, state, changed_at)
            SELECT gen_random_uuid(), gen_random_uuid(), 'q', 1, 'answered', now() FROM generate_series(1, 3000)
            """
        ),
        (
            "mutations", QuestionnaireSessionStore.purgeMutations.sql.replacing("$1", with: "1000"),
            """
            INSERT INTO mutations (person_id, session_id, mutation_id, digest, question, revision, at)
            SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '', 'q', 1, now()
            FROM generate_series(1, 3000)
            """
        ),
    ])
    func oldRowsAreFoundWithoutReadingTheRest(_ table: String, _ statement: String, _ rows: String) async throws {
        try await withService { service in
            let read = try await service.stage.rowsRead(of: table, by: statement, after: rows)
            #expect(try #require(read) < 100)
        }
    }

    /// The first answer to each question gets its time from the history.
    @Test func theMigrationTakesTimesFromTheHistory() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "questionnaire")
        func migrate(_ count: Int) async throws {
            _ = try await Migrator.run(
                owner: scratch.owner, schema: "questionnaire", runtimeRole: "scratch_runtime",
                migrations: Array(QuestionnaireMigrations.all.prefix(count)))
        }
        let last = try #require(QuestionnaireMigrations.all.firstIndex { $0.name == "m0014_times_from_before" })
        try await migrate(last)
        try await scratch.query(
            """
            INSERT INTO definitions (questionnaire, version, content_hash, content) VALUES ('q', 1, sha256('q'), '{}');
            INSERT INTO sessions (person_id, session_id, questionnaire, version, content_hash, opened_at)
                SELECT md5('p')::uuid, md5('s')::uuid, 'q', 1, sha256('q'), '2026-02-20T09:00:00Z';
            INSERT INTO answers (person_id, session_id, question, state, value, revision, changed_at)
                SELECT md5('p')::uuid, md5('s')::uuid, k, 'answered', '1', 2, '2026-02-20T09:10:00Z' FROM unnest('{a,b}'::text[]) AS k;
            INSERT INTO answer_history (person_id, session_id, question, state, value, revision, changed_at)
                SELECT md5('p')::uuid, md5('s')::uuid, k, 'answered', '1', r, timestamptz '2026-02-20T09:00:00Z' + s * interval '1 second'
                FROM (VALUES ('a', 1, 7), ('a', 2, 20), ('b', 1, 25), ('b', 2, 90)) AS v (k, r, s)
            """)
        try await migrate(last + 1)
        #expect(try await scratch.query("SELECT question, took FROM answers ORDER BY 1") == "a|7\nb|5")
    }
}
