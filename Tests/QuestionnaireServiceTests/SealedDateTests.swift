import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("dates among answers") @Loop struct SealedDateTests {
    // MARK: One date

    private static let ring = try? KeyRing(contents: KeyRing.generate(id: "one"))

    /// PostgreSQL finds what lies open by a rule of its own.
    @Test func datesAreRecognisedAsInTheDatabase() async throws {
        let values: [JSONValue] = [
            "1990-05-17", "0000-00-00", "9999-99-99", "1990-05-1", "1990-05-017", "1990-05-17 ", " 1990-05-17",
            "1990-05-17\n", "1990_05_17", "1990-05-١٧", "19900-5-17", "1990-0517-", "----------", "", "born", .null,
            true,
            19_900_517, ["1990-05-17"], ["value": "1990-05-17"], ["sealed": "1990-05-17"],
        ]
        try await withService { service in
            for value in values {
                let text = String(decoding: CanonicalJSON.bytes(of: value), as: UTF8.self)
                let found = try await service.rows("SELECT is_open_date($json$\(text)$json$)")
                #expect((found == "t") == AnswerSealer.isDate(value), "\(text)")
                #expect(AnswerSealer.isDate(value) == values.prefix(3).contains(value), "\(text)")
            }
            #expect(try await service.rows("SELECT is_open_date(NULL), is_sealed_date(NULL)") == "f|f")
        }
    }

    @Test func areOpenedForTheirPersonAlone() throws {
        let ring = try #require(Self.ring)
        let (sealer, person) = (AnswerSealer(ring), Identifier.random())
        let sealed = sealer.sealed("1990-05-17", of: person, isSensitive: false)
        #expect(sealed != sealer.sealed("1990-05-17", of: person, isSensitive: false), "no two are alike")
        #expect(sealed["sealed"]?.stringValue != nil && sealed.objectValue?.count == 1)
        #expect(
            try sealer.opened(["a": ["value": sealed], "b": [sealed, 1]], of: person)
                == ["a": ["value": "1990-05-17"], "b": ["1990-05-17", 1]])
        #expect(throws: SealError.self) { try sealer.opened(sealed, of: .random()) }
        #expect(throws: SealError.self) { try sealer.opened(["sealed": "?"], of: person) }
        for value in ["a", ["1990-05-17"]] as [JSONValue] {
            #expect(sealer.sealed(value, of: person, isSensitive: false) == value)
        }

        let former = AnswerSealer(ring, isSealing: false)
        #expect(former.sealed("1990-05-17", of: person, isSensitive: false) == "1990-05-17")
        #expect(try former.opened(sealed, of: person) == "1990-05-17")
    }

    // MARK: A person's

    /// Everything that a replica writes, if it seals dates from the start and if it is told not to.
    @Test(arguments: [true, false]) func datesAreSealedInEveryTable(_ sealsFromTheStart: Bool) async throws {
        let setting = ["QUESTIONNAIRE_SEAL_DATES": "\(sealsFromTheStart)"]
        try await withService(environment: setting) { service in
            var people: [Person] = []
            try await service.publish(Self.definition(version: 4))
            for _ in 0..<3 { people.append(try await Person(service)) }
            for person in people { try await person.answers(service) }
            try await service.publish(Self.definition(version: 5))
            for person in people { try await person.moves(service) }
            for person in people { try await person.completes(service) }
            let (open, digests) = (try await Self.open(in: service), try await Self.openDigests(in: service))
            #expect((open == 0) == sealsFromTheStart && (digests == 0) == sealsFromTheStart)

            var disclosed: [DisclosedDates] = []
            for person in people { disclosed.append(try await DisclosedDates(person, service)) }
            for disclosed in disclosed {
                #expect(disclosed.dates == Self.written, "the export has each of them, as it was")
                #expect(disclosed.extracts == [ProfileExtract(field: "dateOfBirth", value: .string(Self.last))])
                #expect(disclosed.view.answers.first { $0.question == "born" }?.value == .string(Self.last))
                #expect(disclosed.view.result?.answers["born"]?["value"] == .string(Self.last))
                #expect(disclosed.adults == 3, "all of them are shown what is for adults")
            }

            // A replica that seals reads the one as the other.
            try await Self.seals("true", service)
            for round in 1...2 {
                for (person, disclosed) in zip(people, disclosed) {
                    #expect(
                        try await patiently { try await DisclosedDates(person, service) } == disclosed, "round \(round)"
                    )
                    try await person.repeats(service)
                }
                let sealed = try await Self.seal(service)
                #expect(sealed.sessions == 3)
                #expect(sealed.dates == (round == 1 && !sealsFromTheStart ? open + digests : 0))
                #expect(try await Self.open(in: service) == 0)
                #expect(try await Self.openDigests(in: service) == 0)
            }
        }
    }

    /// Others have sealed the dates, and one replica still writes them open. In the end, all that it wrote is sealed.
    @Test func openDatesAmongSealedOnesAreFoundAndSealed() async throws {
        try await withService { service in
            try await service.publish(Self.definition(version: 4))
            let person = try await Person(service)
            try await person.answers(service)
            try await Self.seals("false", service)
            // The second write repeats the stored date, so it adds no history.
            for date in [Self.last, Self.first] { try await person.answer(date, service) }
            let refused = await #expect(throws: BusError.self) { try await Self.seal(service) }
            #expect(refused?.code == "sealing_off")
            #expect(try await Self.open(in: service) == 2)
            #expect(try await Self.openDigests(in: service) == 2)
            try await Self.seals("true", service)
            #expect(try await Self.seal(service).dates == 4)
            #expect(try await Self.open(in: service) == 0)
            #expect(try await Self.openDigests(in: service) == 0)
            #expect(try await Self.seal(service).dates == 0)
        }
    }

    /// The key that it was sealed with is not in the ring any more.
    @Test func aDateThatCannotBeOpenedHoldsUpNoOtherPerson() async throws {
        try await withService { service in
            var people: [Person] = []
            try await service.publish(Self.definition(version: 4))
            for _ in 0..<3 { people.append(try await Person(service)) }
            for person in people { try await person.answers(service) }
            let broken = try await service.rows(
                """
                UPDATE answers SET value = '{"sealed": "AG5vbmU="}'
                WHERE person_id = '\(people[1].id)' AND question = 'born' RETURNING 1
                """)
            #expect(broken.contains("1"))
            // What the replica remembers of it is still so.
            try await service.stage.replaceReplicas(by: service.stage.environment)
            try await service.containers[0].database.waitUntilAvailable()

            let statistics = try await Self.statistics(version: 4, service)
            #expect(statistics.sessions == 2 && statistics.of == 3)
            #expect(statistics.questions.first { $0.question == "adult" }?.shown == 2)
            try await service.publish(Self.definition(version: 5))
            let operators = try service.stage.asking(as: .operator)
            let moved = try await patiently {
                try await operators.call(
                    MigrateSessions(questionnaire: Self.key, limit: 10), CallOptions(timeout: .seconds(10)))
            }
            #expect(moved.sessions == 2 && moved.next == nil)
            #expect(moved.notMoved?.map(\.code) == ["date_not_opened"])
            for place in ["statistics", "questionnaire-session-migration"] {
                let line = service.stage.log.text.split(separator: "\n").first { $0.contains("\"\(place)\"") }
                #expect(line?.contains("date_not_opened") == true)
            }
            #expect(!service.stage.log.text.contains(people[1].id.description))
        }
    }

    /// What an attacker in the service can do with its right to seal the history.
    @Test func theHistoryIsSealedAndNotChanged() async throws {
        try await withService(environment: ["QUESTIONNAIRE_SEAL_DATES": "false"]) { service in
            try await service.publish(Self.definition(version: 4))
            let person = try await Person(service)
            try await person.answers(service)
            try await service.publish(Self.definition(version: 5))
            try await person.moves(service)
            try await person.completes(service)
            let kept = "SELECT h::text FROM answer_history h UNION ALL SELECT n::text FROM snapshots n ORDER BY 1"
            let before = try await service.rows(kept)
            let database = service.containers[0].database
            for sealed in ["\"1999-01-01\"", "{\"sealed\": 1}", "{\"sealed\": \"a\", \"more\": 1}", "null", "[]"] {
                for statement in Self.seal("'\(sealed)'::jsonb") { _ = try await database.write(statement) }
            }
            #expect(try await service.rows(kept) == before, "by nothing but what is sealed")
            for statement in Self.seal("'{\"sealed\": \"AA==\"}'::jsonb") { _ = try await database.write(statement) }
            let sealed = try await service.rows(kept)
            #expect(sealed != before)
            for statement in Self.seal("'{\"sealed\": \"BB==\"}'::jsonb") { _ = try await database.write(statement) }
            #expect(try await service.rows(kept) == sealed, "and nothing but dates that lie open")
            await #expect(throws: DatabaseError.statement(sqlState: "42501", constraint: nil)) {
                try await database.write("UPDATE answer_history SET value = NULL")
            }
        }
    }

    /// Seals every row of the history, and every answer of every snapshot.
    private static func seal(_ sealed: String) -> [Statement] {
        [
            Statement("SELECT seal_history(person_id, session_id, question, revision, \(sealed)) FROM answer_history"),
            Statement(
                """
                SELECT seal_snapshot(person_id, session_id, key, number, \(sealed))
                FROM snapshots, jsonb_each(answers)
                """),
        ]
    }

    // MARK: What is asked and said

    private static let key = "yoked-compat"
    private static let (first, last, child, note) = ("1989-01-02", "1990-05-17", "2015-03-04", "2001-02-03")
    /// What a person's export has of each kind.
    private static let written = [
        "answer": [note, last, child], "answer_history": [first, note, last, last, child], "migration": [last, last],
        "snapshot": [note, last, child, note, last, child],
    ].mapValues { $0.sorted() }

    private static func definition(version: Int64) -> JSONValue {
        let adult: JSONValue = [">=": [["age_years": "born"], 18]]
        return Sample.definition(sections: [
            Sample.section(
                "first",
                [
                    Sample.question("born", "date", ["extract": ["profileField": "dateOfBirth"]])
                        .setting("meaningRev", to: version == 4 ? 1 : 2),
                    Sample.question("note", "text"), Sample.question("adult", "boolean", ["visibleIf": adult]),
                ]),
            Sample.children(0...3, [Sample.question("birthday", "date")]),
        ]).setting("version", to: .integer(version))
    }

    /// How often one of the dates stands in any row of any table.
    private static func open(in service: RunningService) async throws -> Int {
        let everything = try await service.rows("SELECT schema_to_xml(current_schema()::name, true, false, '')")
        #expect(everything.contains("adult"), "it is what the tables hold")
        return [first, last, child, note].reduce(0) { $0 + everything.components(separatedBy: $1).count - 1 }
    }

    /// The digests of writes by which a date could be tried.
    private static func openDigests(in service: RunningService) async throws -> Int {
        let count = try await service.rows(
            "SELECT count(*) FROM mutations WHERE octet_length(digest) = 32 AND question <> 'adult'")
        return try #require(Int(count))
    }

    /// Puts a replica of this setting in the place of all others.
    private static func seals(_ setting: String, _ service: RunningService) async throws {
        let environment = service.stage.environment.merging(["QUESTIONNAIRE_SEAL_DATES": setting]) { $1 }
        try await service.stage.replaceReplicas(by: environment)
        try await service.containers[0].database.waitUntilAvailable()
    }

    /// Everything, in batches of two sessions.
    private static func seal(_ service: RunningService) async throws -> DatesSealed {
        let operators = try service.stage.asking(as: .operator)
        var (sum, after) = (DatesSealed(sessions: 0, dates: 0), String?.none)
        repeat {
            let sealed = try await patiently {
                try await operators.call(SealDates(limit: 2, after: after), CallOptions(timeout: .seconds(10)))
            }
            (sum.sessions, sum.dates, after) = (sum.sessions + sealed.sessions, sum.dates + sealed.dates, sealed.next)
        } while after != nil
        return sum
    }

    private static func statistics(version: Int, _ service: RunningService) async throws -> VersionStatistics {
        let admin = Actor(userID: .random(), sessionID: .ordered(), role: .admin)
        return try await patiently {
            try await service.gateway.call(
                GetStatistics(questionnaire: key, version: "\(version)"),
                CallOptions(timeout: .seconds(10), actor: admin))
        }
    }

    @Loop private struct Person {
        let id = Identifier.random()
        let session: Identifier
        private let subject = Identifier.ordered()
        private let writes: [PutAnswer]

        init(_ service: RunningService) async throws {
            let session = try await service.questions(as: id).sessionId
            self.session = session
            writes = [first, last].map {
                PutAnswer(
                    questionnaire: key, sessionId: session, question: "born", mutationId: .ordered(), state: .answered,
                    value: .string($0))
            }
        }

        func answers(_ service: RunningService) async throws {
            for write in writes { _ = try await call(write, service) }
            _ = try await call(
                PutSubject(questionnaire: key, sessionId: session, subject: subject, label: "Alva"), service)
            let queue = [
                QueuedAnswer(question: "note", mutationId: .ordered(), state: .answered, value: .string(note)),
                QueuedAnswer(
                    question: "birthday", subject: subject, mutationId: .ordered(), state: .answered,
                    value: .string(child)),
            ]
            let saved = try await call(PutAnswers(questionnaire: key, sessionId: session, answers: queue), service)
            #expect(saved.results.allSatisfy { $0.error == nil })
        }

        func answer(_ date: String, _ service: RunningService) async throws {
            _ = try await call(
                PutAnswer(
                    questionnaire: key, sessionId: session, question: "born", mutationId: .ordered(), state: .answered,
                    value: .string(date)), service)
        }

        /// There, back and there again.
        func moves(_ service: RunningService) async throws {
            let move = MigrateSession(questionnaire: key, sessionId: session)
            #expect(try await call(move, service).stale == ["born"])
            let undone = try await call(UndoMigration(questionnaire: key, sessionId: session), service)
            #expect(undone.answers.first { $0.question == "born" }?.value == .string(last))
            _ = try await call(move, service)
        }

        /// And changes something afterwards.
        func completes(_ service: RunningService) async throws {
            try await answer(last, service)
            _ = try await call(CompleteSession(questionnaire: key, sessionId: session), service)
            _ = try await call(
                PutAnswer(
                    questionnaire: key, sessionId: session, question: "adult", mutationId: .ordered(),
                    state: .answered, value: true), service)
        }

        /// The earlier writes: they are done once.
        func repeats(_ service: RunningService) async throws {
            for (write, revision) in zip(writes, 1...) {
                #expect(try await call(write, service).revision == revision)
                var other = write
                other.value = .string(child)
                let error = await #expect(throws: BusError.self) { try await call(other, service) }
                #expect(error?.code == "mutation_id_reused")
            }
        }

        func call<Request: BusRequest>(_ request: Request, _ service: RunningService) async throws -> Request.Reply {
            try await patiently { try await service.gateway.call(request, service.options(id, key: nil)) }
        }
    }

    /// What is disclosed of a person's dates, to the person or to others.
    private struct DisclosedDates: Equatable {
        let view: SessionView
        let extracts: [ProfileExtract]
        let adults: Int64?
        /// By the kind of record of the export.
        let dates: [String: [String]]

        @Loop init(_ person: Person, _ service: RunningService) async throws {
            view = try await person.call(GetSession(questionnaire: key, sessionId: person.session), service)
            let profile = try service.stage.asking(as: .profile)
            extracts = try await profile.call(
                GetExtracts(personID: person.id, sessionID: person.session), CallOptions(timeout: .seconds(10))
            ).extracts
            adults = try await statistics(version: 5, service).questions.first { $0.question == "adult" }?.shown
            var dates: [String: [String]] = [:]
            for record in try await person.call(ExportAnswers(after: nil), service).records {
                let json = try JSONValue.parse(Array(record.utf8))
                dates[json["kind"]?.stringValue ?? "", default: []] += Self.dates(in: json)
            }
            self.dates = dates.filter { !$0.value.isEmpty }.mapValues { $0.sorted() }
        }

        private static func dates(in json: JSONValue) -> [String] {
            switch json {
            case .array(let entries): entries.flatMap(dates)
            case .object(let members): members.values.flatMap(dates)
            default: AnswerSealer.isDate(json) ? [json.stringValue ?? ""] : []
            }
        }
    }
}
