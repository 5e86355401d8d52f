import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// What a replica keeps of the sessions that it saw last. What is in the tables is read by a desk that has seen nothing.
@Suite("questionnaire sessions kept in memory") struct QuestionnaireSessionMemoryTests {
    private static let key = "yoked-compat"

    /// Everything that changes a session or tries to, at one of two replicas by chance. After each of it whoever is asked
    /// shows what is in the tables.
    @Test(arguments: 0..<Rounds.count(3, prove: 40))
    func everyReplicaShowsTheStateOfTheTables(seed: Int) async throws {
        try await Self.run(replicas: 2) { service in
            var walk = try await Walk(service, seed: UInt64(seed))
            for number in 0..<80 {
                // Each of them once when it can be done, so that none is missing.
                let sure: [Int: Walk.Deed] = [
                    5: .meet, 6: .leave, 7: .invalid, 8: .put, 9: .take, 10: .batch, 18: .complete, 19: .reopen,
                    20: .move,
                    21: .undo,
                ]
                // Others begin with the next version from here on.
                if number == 20 { try await service.publish(Self.definition(version: 5)) }
                let done = try await walk.step(sure[number])
                let expected = try await Self.table(walk.session, of: walk.person, service)
                for _ in 0..<4 {
                    var shown = try await walk.show()
                    shown.result = nil
                    #expect(shown == expected, "\(seed), \(number): \(done)")
                }
                let screens = try await Self.screens(walk.session, of: walk.person, service)
                for _ in 0..<2 { #expect(try await walk.screens() == screens, "\(seed), \(number): \(done)") }
            }
            #expect(walk.done.count == Walk.Deed.allCases.count, "each was done at least once: \(walk.done)")

            let store = service.sessions
            try await store.database.transaction { store.erase(walk.person, in: $0) }
            for _ in 0..<4 {
                let gone = await #expect(throws: BusError.self) { try await walk.show() }
                #expect(gone?.code == "not_found")
            }
        }
    }

    /// A transaction that is rolled back gives its revision back, and the next write has it.
    @Test func aRolledBackRevisionIsNotTakenForTheNext() async throws {
        try await Self.run { service in
            let walk = try await Walk(service, seed: 1)
            _ = try await service.gateway.call(walk.put("short", "before"), service.options(walk.person))
            // Nothing of it is saved, but the session was taken for it.
            let invalid = ResponseItem(question: "short", value: .integer(1))
            await #expect(throws: BusError.self) {
                try await service.submit([invalid], session: walk.session, as: walk.person)
            }
            _ = try await service.rows(
                """
                UPDATE sessions SET revision = revision + 1;
                UPDATE answers SET value = '"by another replica"', revision = 2
                """)
            let answers = try await walk.show().answers
            #expect(answers.first { $0.question == "short" }?.value == "by another replica")
        }
    }

    /// Answers of every type, as they are given and as PostgreSQL gives them back.
    @Test func aCachedWriteEqualsTheStoredOne() async throws {
        try await Self.run { service in
            var walk = try await Walk(service, seed: 2)
            let sessionService = Self.sessionService(service)
            for _ in 0..<200 {
                let hand = try #require(try await sessionService.look(walk.session, of: walk.person, for: Self.key))
                let plan = ResponsePlan.each([walk.item()], on: hand.sheet, mutations: [], now: hand.session.now)
                guard let write = plan.writes.first(where: \.changesAnswer) else { continue }
                #expect(
                    try await sessionService.writeAtOnce(
                        write, hand.sheet.with(plan.answers), on: hand, reply: Array("{}".utf8)))
                let kept = try #require(sessionService.memory.recall(Self.key, of: walk.person))
                let read = try #require(
                    try await sessionService.sessions.find(walk.session, of: walk.person, for: Self.key))
                #expect(kept.session.answers == read.answers && kept.session.revision == read.revision)
                let anew = LoadedQuestionnaireSession(read, of: walk.person, hand.published)
                #expect(kept.sheet.views == anew.sheet.views)
                // PostgreSQL writes a blank behind each comma of a value.
                #expect(abs(kept.session.answersSize - read.answersSize) <= 10 * read.answers.count)
            }
            let read = try #require(
                try await sessionService.sessions.find(walk.session, of: walk.person, for: Self.key))
            #expect(read.answers.count == Walk.values.count)
            let size = try await service.rows(
                """
                SELECT sum(512 + octet_length(question) + coalesce(octet_length(value::text), 0)
                    + coalesce(octet_length(preference::text), 0) + coalesce(octet_length(device), 0)) FROM answers
                """)
            #expect("\(read.answersSize)" == size)
        }
    }

    @Test func cachedAnswersAreReadAgainOnlyForANewRevision() async throws {
        try await Self.run { service in
            let walk = try await Walk(service, seed: 3)
            _ = try await service.gateway.call(walk.put("short", "as it was"), service.options(walk.person))
            // Nothing of the house changes an answer without its session's revision.
            _ = try await service.rows("UPDATE answers SET value = '\"not looked at\"'")
            #expect(try await walk.show().answers.map(\.value) == ["as it was"])
            _ = try await service.rows("UPDATE sessions SET revision = revision + 1")
            #expect(try await walk.show().answers.map(\.value) == ["not looked at"])
        }
    }

    /// An age depends on the day, and somebody may read a session on two days.
    @Test func aSessionIsEvaluatedAgainOnAnotherDay() async throws {
        try await Self.run { service in
            let walk = try await Walk(service, seed: 4)
            let hand = try #require(
                try await Self.sessionService(service).look(walk.session, of: walk.person, for: Self.key))
            var session = hand.session
            session.now = Timestamp(microsecondsSinceEpoch: session.now.microsecondsSinceEpoch + 86_400_000_000)
            let next = LoadedQuestionnaireSession(session, of: walk.person, hand.published, knowing: hand)
            #expect(next.sheet.today == session.now.date && next.sheet.today != hand.sheet.today)
        }
    }

    @Test func isBounded() async throws {
        try await Self.run { service in
            let walk = try await Walk(service, seed: 5)
            var hand = try #require(
                try await Self.sessionService(service).look(walk.session, of: walk.person, for: Self.key))
            let memory = QuestionnaireSessionMemory()
            func another() -> LoadedQuestionnaireSession {
                LoadedQuestionnaireSession(hand.session, of: .random(), hand.published)
            }
            let others = (0..<2000).map { _ in another() }
            for other in others { memory.remember(other, for: Self.key) }
            let kept = others.map { memory.recall(Self.key, of: $0.person) != nil }
            #expect(kept.suffix(256).allSatisfy { $0 }, "the newest")
            #expect(kept.count { $0 } <= 512)

            // Large sessions are forgotten earlier, however few there are.
            hand.session.answersSize = 10 << 20
            let large = (0..<20).map { _ in another() }
            for other in large { memory.remember(other, for: Self.key) }
            let left = large.map { memory.recall(Self.key, of: $0.person) != nil }
            #expect(left.last == true && left.count { $0 } <= 8)
            memory.remember(hand, for: Self.key)

            // What is looked at in between is young again.
            memory.age()
            #expect(memory.recall(Self.key, of: hand.person) != nil)
            memory.remember(hand, for: Self.key)
            memory.age()
            #expect(memory.recall(Self.key, of: hand.person) != nil)
            memory.age()
            #expect(memory.recall(Self.key, of: hand.person) == nil)
        }
    }

    // MARK: What is asked

    private static func question(_ key: String, _ type: String, _ members: [String: JSONValue] = [:]) -> JSONValue {
        Sample.question(key, type, .object(members.merging(["skippable": true, "declinable": true]) { $1 }))
    }

    /// Every type of question, one that depends on an answer, and a section about each child. In the fifth version one has
    /// another name, and one is asked again.
    private static func definition(version: Int64) -> JSONValue {
        let questions = [
            Sample.question("one", "single_choice", PreferenceTests.asked), question("many", "multi_choice"),
            question("order", "ranking"), question("slide", "slider"), question("yes", "boolean"),
            question(version == 4 ? "short" : "named", "text"),
            question("count", "number", ["constraints": ["min": -10, "max": 1000]]),
            question("day", "date"), question("tall", "height"),
            question("tags", "tags", ["constraints": ["other": ["maxCount": 2, "maxLength": 40]]]),
            Sample.question("screen", "info"),
            question("depends", "boolean", ["visibleIf": ["var": "yes"]])
                .setting("meaningRev", to: version == 4 ? 1 : 2),
        ]
        let definition = Sample.definition(sections: [
            Sample.section("first", questions),
            Sample.children(0...3, [question("toy", "text"), question("big", "boolean")]),
        ]).setting("version", to: .integer(version))
        return version == 4
            ? definition : definition.setting("migrations", to: [["rename": ["old": "short", "new": "named"]]])
    }

    private static func run(
        replicas: Int = 1, _ body: @escaping @Loop @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await ConditionalServiceTests.run(asking: definition(version: 4), replicas: replicas, body)
    }

    /// One that has seen nothing yet.
    @Loop private static func sessionService(_ service: RunningService) -> QuestionnaireSessionService {
        let container = service.containers[0]
        let definitions = PublishedDefinitions(database: container.database, shipped: [])
        return QuestionnaireSessionService(
            sessions: service.sessions, definitions: definitions,
            offers: VersionOffers(
                definitions: definitions,
                migrations: QuestionnaireSessionMigrationStore(
                    database: container.database, sealer: service.sessions.sealer, sensitive: service.sessions.sensitive
                )),
            inbox: container.inbox, outbox: container.outbox, bus: container.bus)
    }

    @Loop private static func table(
        _ session: Identifier, of person: Identifier, _ service: RunningService
    ) async throws -> SessionView {
        let sessionService = sessionService(service)
        let hand = try #require(try await sessionService.look(session, of: person, for: key))
        return try await sessionService.view(hand, language: nil, result: nil)
    }

    @Loop private static func screens(
        _ session: Identifier, of person: Identifier, _ service: RunningService
    ) async throws -> SessionScreens {
        let hand = try #require(try await sessionService(service).look(session, of: person, for: key))
        return hand.published.screens(for: hand.sheet, revision: hand.session.revision, in: "en")
    }
}

/// One person in one session, doing this and that.
@Loop private struct Walk {
    enum Deed: CaseIterable {
        case put, take, batch, invalid, meet, leave, complete, reopen, move, undo
    }

    static let values: [String: [JSONValue]] = [
        "one": ["a", "b", "c"], "many": [["a"], ["a", "c"], ["c", "b"]], "order": [["c", "a", "b"], ["a", "b", "c"]],
        "slide": [0, 3, 4], "yes": [true, false],
        "short": ["", "Åsa \"Å\" Ö", "e\u{301}\n\t👩‍👩‍👧", "\\u0041 </script>", "1e400"],
        "count": [0, -10, 1000, .number(0.1), .number(1e2), .number(12.345), .number(-0.0)],
        "day": ["2000-02-29", "1999-12-31"], "tall": [["cm": 180], ["cm": 201]],
        "tags": [["a"], ["b", ["other": "Åsa's, own"]]], "screen": [], "depends": [true, false],
    ]

    let service: RunningService
    let person = Identifier.random()
    let session: Identifier
    private(set) var done: Set<Deed> = []
    private var generator: SeededGenerator
    private var children: [Identifier] = []

    init(_ service: RunningService, seed: UInt64) async throws {
        (self.service, generator) = (service, SeededGenerator(state: seed))
        session = try await service.questions(as: person).sessionId
    }

    func show() async throws -> SessionView {
        try await patiently {
            try await service.gateway.call(
                GetSession(questionnaire: "yoked-compat", sessionId: session), service.options(person))
        }
    }

    func screens() async throws -> SessionScreens {
        try await patiently {
            try await service.gateway.call(
                GetSessionScreens(questionnaire: "yoked-compat", sessionId: session), service.options(person))
        }
    }

    func put(_ question: String, _ value: JSONValue) -> PutAnswer {
        PutAnswer(
            questionnaire: "yoked-compat", sessionId: session, question: question, mutationId: .random(),
            state: .answered, value: value)
    }

    /// An answer of any type, mostly a valid one.
    mutating func item() -> ResponseItem {
        let question = Self.values.keys.sorted().randomElement(using: &generator)!
        var item = ResponseItem(question: question, mutationId: .random())
        item.device = [nil, "Åsa's phone"].randomElement(using: &generator)!
        let states: [AnswerState] =
            question == "screen" ? [.acknowledged] : [.answered, .answered, .answered, .skipped]
        item.state = states.randomElement(using: &generator)
        guard item.state == .answered else { return item }
        item.value = Self.values[question]!.randomElement(using: &generator)
        if question == "one", Bool.random(using: &generator) {
            item.preference = AnswerPreference(acceptable: ["c", "a"], importance: 50)
        }
        return item
    }

    /// - Returns: what was done, or what it was refused as.
    mutating func step(_ sure: Deed?) async throws -> String {
        let weighted: [Deed] = Deed.allCases + [.put, .put, .put, .put, .put, .batch, .meet, .reopen, .reopen]
        let deed = sure ?? weighted.randomElement(using: &generator)!
        do {
            try await patiently { try await perform(deed) }
            done.insert(deed)
            return "\(deed)"
        } catch let error as BusError {
            if deed == .invalid { done.insert(deed) }
            return "\(deed), \(error.code)"
        }
    }

    private mutating func perform(_ deed: Deed) async throws {
        let (gateway, options, questionnaire) = (service.gateway, service.options(person), "yoked-compat")
        switch deed {
        case .put:
            let item = item()
            _ = try await gateway.call(
                PutAnswer(
                    questionnaire: questionnaire, sessionId: session, question: item.question,
                    mutationId: item.mutationId!, state: item.state!, value: item.value, device: item.device,
                    preference: item.preference), options)
        case .take:
            _ = try await gateway.call(
                DeleteAnswer(
                    questionnaire: questionnaire, sessionId: session,
                    question: item().question, mutationId: .random()), options)
        case .batch:
            let queued =
                (0..<4).map { _ in
                    let item = item()
                    return QueuedAnswer(
                        question: item.question, mutationId: item.mutationId!, state: item.state!, value: item.value,
                        preference: item.preference)
                }
                + children.map {
                    QueuedAnswer(question: "toy", subject: $0, mutationId: .random(), state: .answered, value: "A bear")
                }
            _ = try await gateway.call(
                PutAnswers(questionnaire: questionnaire, sessionId: session, answers: queued), options)
        case .invalid:
            let invalid = [ResponseItem(question: "yes", value: true), ResponseItem(question: "slide", value: "far")]
            try await service.submit(invalid, session: session, as: person)
        case .meet:
            children.append(.random())
            _ = try await gateway.call(
                PutSubject(
                    questionnaire: questionnaire, sessionId: session, subject: children.last!, label: "Kim"), options)
        case .leave:
            guard let child = children.popLast() else { throw BusError(.notFound, "There is nobody to leave.") }
            _ = try await gateway.call(
                RemoveSubject(questionnaire: questionnaire, sessionId: session, subject: child), options)
        case .complete:
            _ = try await gateway.call(CompleteSession(questionnaire: questionnaire, sessionId: session), options)
        case .reopen:
            _ = try await gateway.call(ReopenSession(questionnaire: questionnaire, sessionId: session), options)
        case .move:
            let moved = try await gateway.call(
                MigrateSession(questionnaire: questionnaire, sessionId: session), options)
            if moved.fromVersion == moved.toVersion { throw BusError(.notFound, "There is no version to move to yet.") }
        case .undo:
            _ = try await gateway.call(UndoMigration(questionnaire: questionnaire, sessionId: session), options)
        }
    }
}
