import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("what a questionnaire session is pinned to when it is opened") @Loop struct QuestionnaireSessionFactTests {
    let person = Identifier.random()

    /// One question for each thing that a fact can be.
    private static func definition(version: Int64 = 4, country: Bool = true) -> JSONValue {
        func question(_ key: String, _ fact: String, _ value: JSONValue) -> JSONValue {
            Sample.question(key, "boolean", ["visibleIf": ["==": [["ctx": .string(fact)], value]]])
        }
        var questions = [Sample.question("always", "boolean"), question("swedish", "locale", "sv")]
        questions.append(question("phone", "platform", "ios"))
        questions.append(
            Sample.question("elsewhere", "boolean", ["visibleIf": ["!=": [["ctx": "platform"], "ios"]]]))
        if country { questions.append(question("sweden", "profile.country", "SE")) }
        return Sample.definition(sections: [Sample.section("first", questions)], locales: ["en", "sv"])
            .setting("version", to: .integer(version))
    }

    private static let key = "yoked-compat"

    private func open(
        _ service: RunningService, _ language: String? = nil, platform: String? = nil, as other: Identifier? = nil,
        key: String? = nil
    ) async throws -> SessionView {
        try await again(service) {
            try await service.gateway.call(
                OpenSession(questionnaire: Self.key, acceptLanguage: language, platform: platform),
                service.options(other ?? person, key: key))
        }
    }

    /// Tries again, as a client does, while profile answers. On a busy machine, profile may answer too late.
    private func again<Value: Sendable>(
        _ service: RunningService, _ body: @Loop () async throws -> Value
    ) async throws -> Value {
        while true {
            do {
                return try await patiently(body)
            } catch let error as BusError where error.code == "service_unavailable" && !service.profile.isOut {
                try await Loop.sleep(for: .milliseconds(20))
            }
        }
    }

    private func asked(_ view: SessionView) -> [String] { view.asked.map(\.question) }

    private func publish(_ json: JSONValue, in service: RunningService) async throws {
        let definition = try DefinitionParserTests.parse(json)
        let shipped = DefinitionImport(database: service.containers[0].database, definition: definition)
        #expect(try await patiently { try await shipped.run() } == .published)
    }

    @Test func theSameQuestionsOnEveryDeviceAndEveryDay() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition()) { service in
            service.profile.facts = ["country": "SE", "city": "Stockholm"]
            let opened = try await open(service, "sv", platform: "ios")
            #expect(opened.isNew == true && asked(opened) == ["always", "swedish", "phone", "sweden"])
            let times = service.profile.asked.count
            #expect(times > 0 && service.profile.asked.allSatisfy { $0.personID == person && $0.fields == ["country"] })
            // They move, change their phone and its language.
            service.profile.facts = ["country": "GB"]
            let later = try await open(service, "en", platform: "web")
            #expect(later.isNew == false && asked(later) == asked(opened))
            let read = try await service.gateway.call(
                GetSession(questionnaire: Self.key, sessionId: opened.id, acceptLanguage: "en"), service.options(person)
            )
            #expect(asked(read) == asked(opened) && read.progress.total == 4)
            let questions = try await service.gateway.call(GetQuestions(acceptLanguage: "en"), service.options(person))
            #expect(questions.questions.map(\.visible) == [true, true, true, false, true])
            #expect(service.profile.asked.count == times, "it is asked when the session is opened, and never again")
            let saved = try await service.submit([ResponseItem(question: "swedish", value: true)], as: person)
            #expect(saved.hidden == nil && saved.progress.total == 4)
            let facts = try await service.rows("SELECT facts FROM sessions")
            #expect(
                try JSONValue.parse(Array(facts.utf8)) == [
                    "locale": "sv", "platform": "ios", "profile.country": "SE",
                ])
        }
    }

    @Test func factsNotGivenAtTheStartStayUnknown() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition()) { service in
            #expect(asked(try await open(service)) == ["always"], "no platform, and not another one either")
            // Telling it later changes nothing any more.
            service.profile.facts = ["country": "SE"]
            #expect(asked(try await open(service, "sv", platform: "ios")) == ["always"])
            // By a write, which is not about any language.
            let other = Identifier.random()
            let saved = try await again(service) {
                try await service.submit([ResponseItem(question: "always", value: true)], as: other)
            }
            #expect(saved.progress.total == 2 && saved.nextQuestion == "sweden")
            let facts = try await service.rows("SELECT facts FROM sessions WHERE person_id = '\(other)'")
            #expect(
                try JSONValue.parse(Array(facts.utf8)) == [
                    "locale": .null, "platform": .null, "profile.country": "SE",
                ])
        }
    }

    @Test func readingTheQuestionsPinsTheFactsToo() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition()) { service in
            service.profile.facts = ["country": "SE"]
            let views = try await atOnce(8) {
                try await again(service) {
                    try await service.gateway.call(GetQuestions(acceptLanguage: "sv"), service.options(person))
                }
            }
            #expect(views.allSatisfy { $0.questions.map(\.visible) == [true, true, false, false, true] })
            #expect(try await service.rows("SELECT count(*) FROM sessions") == "1")
        }
    }

    @Test func noSessionBeginsWhileProfileIsAway() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition()) { service in
            service.profile.isOut = true
            func refused(_ body: @Loop () async throws -> Void) async throws {
                let error = await #expect(throws: BusError.self) { try await body() }
                #expect(error?.code == "service_unavailable" && error?.retryAfterMs != nil && error?.executed == .no)
            }
            try await refused { _ = try await open(service, "sv", key: "client 1") }
            try await refused { _ = try await service.questions(as: person) }
            try await refused {
                try await service.submit([ResponseItem(question: "always", value: true)], as: person, key: "client 2")
            }
            #expect(try await service.rows("SELECT count(*) FROM sessions") == "0")
            service.profile.isOut = false
            service.profile.facts = ["country": "SE"]
            let opened = try await open(service, "sv", key: "client 1")
            #expect(asked(opened) == ["always", "swedish", "sweden"], "with the same key, as it was not done before")
            service.profile.isOut = true
            let saved = try await service.submit(
                [ResponseItem(question: "always", value: true)], as: person, key: "client 2")
            #expect(saved.progress.answered == 1, "it is asked no more")
        }
    }

    @Test func aMissingProfileServiceIsAwaitedWithinBounds() async throws {
        try await ServiceStage.run(QuestionnaireServiceDefinition.definition) { stage in
            let gateway = try stage.asking(as: .gateway)
            try await stage.containers[0].database.waitUntilAvailable()
            let definition = try DefinitionParserTests.parse(Self.definition())
            let shipped = DefinitionImport(database: stage.containers[0].database, definition: definition)
            #expect(try await patiently { try await shipped.run() } == .published)
            let isThere = "SELECT count(*) > 0 FROM definitions WHERE questionnaire = 'skin-care'"
            let options = CallOptions(
                timeout: .seconds(30), actor: Actor(userID: person, sessionID: .ordered(), role: .user))
            let error = await #expect(throws: BusError.self) {
                try await gateway.call(OpenSession(questionnaire: Self.key), options)
            }
            #expect(error?.code == "service_unavailable" && error?.executed == .no)
            #expect(try await stage.rows("SELECT count(*) FROM sessions") == "0")
            // A questionnaire without conditions on the profile can begin all the same, once it is published.
            #expect(try await eventually { try await stage.rows(isThere) == "t" })
            let other = try await gateway.call(OpenSession(questionnaire: "skin-care"), options)
            #expect(other.isNew == true)
        }
    }

    // MARK: Moving

    @Test func newFactsOfAVersionAreReadWhenTheSessionMoves() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition(country: false)) { service in
            let opened = try await open(service, "sv", platform: "ios")
            #expect(asked(opened) == ["always", "swedish", "phone"] && service.profile.asked.isEmpty)
            try await publish(Self.definition(version: 5), in: service)
            service.profile.isOut = true
            func move(dryRun: String? = nil, as key: String? = nil) async throws -> SessionMigrated {
                try await again(service) {
                    try await service.gateway.call(
                        MigrateSession(
                            questionnaire: Self.key, sessionId: opened.id, dryRun: dryRun, acceptLanguage: "en"),
                        service.options(person, key: key))
                }
            }
            #expect(try await move(dryRun: "true").newQuestions == ["sweden"], "what becomes of answers needs no facts")
            let error = await #expect(throws: BusError.self) { try await move(as: "client 1") }
            #expect(error?.code == "service_unavailable")
            #expect(try await service.rows("SELECT version FROM sessions") == "4")
            service.profile.isOut = false
            service.profile.facts = ["country": "SE"]
            #expect(try await move(as: "client 1").toVersion == 5)
            let moved = try await open(service, "en", platform: "web")
            #expect(asked(moved) == ["always", "swedish", "phone", "sweden"], "what it had stays")
            let undone = try await service.gateway.call(
                UndoMigration(questionnaire: Self.key, sessionId: opened.id), service.options(person, key: "client 2"))
            #expect(asked(undone) == ["always", "swedish", "phone"])
            service.profile.facts = ["country": "GB"]
            _ = try await move(as: "client 3")
            #expect(asked(try await open(service)).contains("sweden"), "and is never read again")
        }
    }

    @Test func sessionsMovedInABatchGetNoLanguage() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition(country: false)) { service in
            let people = (0..<3).map { _ in Identifier.random() }
            for person in people { _ = try await open(service, "sv", platform: "ios", as: person) }
            // The previous release opened it like this.
            _ = try await service.rows("UPDATE sessions SET facts = '{}' WHERE person_id = '\(people[0])'")
            try await publish(Self.definition(version: 5), in: service)
            service.profile.facts = ["country": "SE"]
            let bus = try service.stage.asking(as: .operator)
            let isMoved = try await eventually {
                let all = MigrateSessions(questionnaire: Self.key, limit: 100)
                return try await bus.call(all, service.options(nil)).notMoved == []
            }
            #expect(isMoved)
            #expect(try await service.rows("SELECT DISTINCT version FROM sessions") == "5")
            #expect(Set(service.profile.asked.map(\.personID)) == Set(people))
            #expect(asked(try await open(service, "sv", platform: "ios", as: people[0])) == ["always", "sweden"])
            #expect(asked(try await open(service, as: people[1])) == ["always", "swedish", "phone", "sweden"])
        }
    }

    @Test func anOlderSessionGetsItsLanguageWhenItMoves() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition()) { service in
            let opened = try await open(service, "en", platform: "ios")
            _ = try await service.rows("UPDATE sessions SET facts = '{}'")
            #expect(asked(try await open(service, "sv", platform: "ios")) == ["always"])
            try await publish(Self.definition(version: 5), in: service)
            _ = try await again(service) {
                try await service.gateway.call(
                    MigrateSession(questionnaire: Self.key, sessionId: opened.id, acceptLanguage: "sv"),
                    service.options(person))
            }
            #expect(asked(try await open(service)) == ["always", "swedish"])
        }
    }

    // MARK: Whose it is

    @Test func factsAreExportedWithTheSession() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition()) { service in
            service.profile.facts = ["country": "SE"]
            _ = try await open(service, "sv")
            let page = try await service.gateway.call(ExportAnswers(after: nil), service.options(person))
            let session = try page.records.map { try JSONValue.parse(Array($0.utf8)) }.first { $0["kind"] == "session" }
            #expect(session?["facts"] == ["locale": "sv", "profile.country": "SE"], "and nothing that is not known")
        }
    }

    @Test func statisticsCountTheQuestionsShown() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition()) { service in
            service.profile.facts = ["country": "SE"]
            _ = try await open(service, "sv")
            let admin = CallOptions(
                timeout: .seconds(10), actor: Actor(userID: .random(), sessionID: .ordered(), role: .admin))
            let statistics = try await service.gateway.call(
                GetStatistics(questionnaire: Self.key, version: "4"), admin)
            #expect(statistics.questions.map(\.shown) == [1, 1, 0, 0, 1])
        }
    }
}
