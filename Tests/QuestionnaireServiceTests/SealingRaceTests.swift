import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// Answers that are written while a version is published that marks their question. Two replicas write them.
@Suite("answers that are written while their question is marked") @Loop struct SealingRaceTests {
    private nonisolated static let key = "yoked-compat"
    private nonisolated static let questions = (0..<6).map { "q\($0)" }

    /// - Parameter marked: how many questions are marked.
    private nonisolated static func definition(version: Int64, marked: Int) -> JSONValue {
        let questions = questions.enumerated().map { index, key in
            Sample.question(key, "text", index < marked ? ["sensitive": "health"] : [:])
        }
        return Sample.definition(questions).setting("version", to: .integer(version))
    }

    /// What stands open of the first questions: answers, their history and digests.
    private static func open(_ marked: Int, in service: RunningService) async throws -> String {
        let keys = questions.prefix(marked).map { "'\($0)'" }.joined(separator: ",")
        return try await service.rows(
            """
            SELECT (SELECT count(*) FROM answers WHERE question IN (\(keys)) AND NOT is_sealed_date(value)),
                (SELECT count(*) FROM answer_history WHERE question IN (\(keys)) AND NOT is_sealed_date(value)),
                (SELECT count(*) FROM mutations WHERE question IN (\(keys)) AND octet_length(digest) = 32)
            """)
    }

    private struct Patient: Sendable {
        let id: Identifier
        let session: Identifier

        /// Saves one answer, which takes one statement, or two as a queue, which take a transaction.
        @Loop func put(_ questions: [String], _ value: String, _ service: RunningService) async throws {
            let answers = questions.map {
                QueuedAnswer(question: $0, mutationId: .ordered(), state: .answered, value: .string(value))
            }
            _ = try await patiently {
                guard answers.count == 1 else {
                    _ = try await service.gateway.call(
                        PutAnswers(questionnaire: key, sessionId: session, answers: answers), service.options(id))
                    return
                }
                _ = try await service.gateway.call(
                    PutAnswer(
                        questionnaire: key, sessionId: session, question: answers[0].question,
                        mutationId: answers[0].mutationId, state: .answered, value: answers[0].value),
                    service.options(id))
            }
        }
    }

    private static func patients(_ count: Int, _ service: RunningService) async throws -> [Patient] {
        var patients: [Patient] = []
        for _ in 0..<count {
            let id = Identifier.random()
            let session = try await service.gateway.call(OpenSession(questionnaire: key), service.options(id)).id
            patients.append(Patient(id: id, session: session))
        }
        return patients
    }

    private static func seal(_ service: RunningService) async throws {
        let operators = try service.stage.asking(as: .operator)
        _ = try await patiently { try await operators.call(SealDates(limit: 100), CallOptions(timeout: .seconds(10))) }
    }

    @Test func answersAreSealedFromTheFirstAfterAMark() async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Self.definition(version: 4, marked: 0))
            let patients = try await Self.patients(12, service)
            for patient in patients { try await patient.put(["q5"], "both replicas know the session", service) }
            try await service.publish(Self.definition(version: 5, marked: 2))
            for (number, patient) in patients.enumerated() {
                try await patient.put(number % 2 == 0 ? ["q0"] : ["q0", "q1"], "rash", service)
            }
            #expect(try await Self.open(2, in: service) == "0|0|0")
            #expect(try await service.rows("SELECT count(*) FROM answers WHERE question = 'q0'") == "12")
        }
    }

    @Test func writesWaitForAPublicationUnderWay() async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Self.definition(version: 4, marked: 0))
            let patient = try await Self.patients(1, service)[0]
            try await patient.put(["q5"], "known", service)
            let next = try DefinitionParserTests.parse(Self.definition(version: 5, marked: 6))
            for questions in [["q0"], ["q1", "q2"]] {
                let isFirst = questions.count == 1
                let write = try await service.containers[0].database.transaction { transaction in
                    if isFirst {
                        _ = try await transaction.query(
                            "INSERT INTO definitions (questionnaire, version, content_hash, content) VALUES ($1, $2, $3, $4)",
                            [
                                .text(next.key), .integer(next.version), .bytes(next.hash),
                                .text(String(decoding: next.canonicalText, as: UTF8.self)),
                            ])
                    } else {
                        _ = try await transaction.query(
                            "INSERT INTO sensitive_questions VALUES ($1, 'another')", [.text(next.key)])
                    }
                    let write = Loop.spawn { try await patient.put(questions, "rash", service) }
                    try await Loop.sleep(for: .milliseconds(60))
                    let written = "SELECT count(*) FROM answers WHERE question = '\(questions[0])'"
                    #expect(try await service.rows(written) == "0")
                    return write
                }
                try await write.value
            }
            #expect(try await Self.open(6, in: service) == "1|1|1", "the answer from before")
            #expect(try await service.rows("SELECT count(*) FROM answers") == "4", "nothing is lost")
        }
    }

    @Test func aPublicationWaitsForWritesUnderWay() async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Self.definition(version: 4, marked: 0))
            let patient = try await Self.patients(1, service)[0]
            let marks = "SELECT count(*) FROM sensitive_questions WHERE questionnaire = '\(Self.key)'"
            let publication = try await service.containers[0].database.transaction { transaction in
                _ = try await service.sessions.locked(
                    patient.session, of: patient.id, for: Self.key, in: transaction)
                let publication = Loop.spawn { try await service.publish(Self.definition(version: 5, marked: 6)) }
                try await Loop.sleep(for: .milliseconds(60))
                #expect(try await service.rows(marks) == "0")
                return publication
            }
            try await publication.value
            #expect(try await service.rows(marks) == "6")
        }
    }

    /// An autovacuum holds the same lock. It ends once PostgreSQL cancels it, and people save their answers meanwhile.
    @Test func aPublicationWaitingForAnAutovacuumDelaysNoWrites() async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Self.definition(version: 4, marked: 0))
            let patient = try await Self.patients(1, service)[0]
            let shipped = DefinitionImport(
                database: service.containers[1].database,
                definition: try DefinitionParserTests.parse(Self.definition(version: 5, marked: 6)))
            let waiting = """
                SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'sessions'::regclass
                """
            let publication = try await service.containers[0].database.transaction { transaction in
                _ = try await transaction.query("LOCK TABLE sessions IN SHARE UPDATE EXCLUSIVE MODE")
                let publication = Loop.spawn { try await shipped.run() }
                try #require(try await eventually { try await service.rows(waiting) == "1" })
                let answer = PutAnswer(
                    questionnaire: Self.key, sessionId: patient.session, question: "q0", mutationId: .ordered(),
                    state: .answered, value: "rash")
                _ = try await service.gateway.call(answer, service.options(patient.id))
                // Longer than a service waits for a lock otherwise.
                try await Loop.sleep(for: .milliseconds(250))
                return publication
            }
            #expect(try await publication.value == .published)
        }
    }

    /// Once a version marks the question as sensitive, the command seals the open answers, and no new answer is open.
    @Test(arguments: 0..<Rounds.count(1, prove: 30)) func noAnswerIsOpenAfterSealing(round: Int) async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Self.definition(version: 4, marked: 0))
            let patients = try await Self.patients(8, service)
            let end = Latch()
            let writers = patients.map { patient in
                Loop.spawn { @Loop in
                    var number = 0
                    while !end.isOver {
                        number += 1
                        let question = Self.questions[number % Self.questions.count]
                        try await patient.put(
                            number % 5 == 0 ? [question, "q\((number + 1) % 6)"] : [question], "rash \(number)", service
                        )
                    }
                    return number
                }
            }
            for marked in 1...Self.questions.count {
                try await Loop.sleep(for: .milliseconds(Int64.random(in: 1...60)))
                try await service.publish(Self.definition(version: Int64(4 + marked), marked: marked))
                try await Self.seal(service)
                #expect(try await Self.open(marked, in: service) == "0|0|0", "\(marked)")
            }
            end.isOver = true
            var writes = 0
            for writer in writers { writes += try await writer.value }
            #expect(try await Self.open(6, in: service) == "0|0|0")
            #expect(writes >= 8)
        }
    }

    @Loop private final class Latch {
        var isOver = false
    }
}
