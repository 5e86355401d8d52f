import BusProtocol
import Cryptography
import EventLoop
import JSONText
import ProcessRuntime
import TestSupport
import Testing

@testable import Database
@testable import Documents

@Suite("drafts and versions of any kind of document") @Loop struct DocumentDraftsTests {
    @Loop struct Kitchen {
        let scratch: ScratchDatabase
        let drafts: DocumentDrafts
        let audit: AuditTrail
        let key = "lunch"

        static func open() async throws -> Kitchen {
            let tables = """
                CREATE TABLE {{schema}}.cards (
                    menu text, version integer, content_hash bytea NOT NULL UNIQUE, content text NOT NULL,
                    published_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (menu, version));
                CREATE TABLE {{schema}}.card_drafts (
                    menu text, number integer, revision bigint NOT NULL DEFAULT 1, content text NOT NULL,
                    copy_of integer, published_as integer, updated_at timestamptz NOT NULL DEFAULT now(),
                    deleted_at timestamptz, PRIMARY KEY (menu, number));
                CREATE TABLE {{schema}}.card_retirements (
                    menu text, version integer, retired_at timestamptz NOT NULL DEFAULT now(),
                    PRIMARY KEY (menu, version));
                """
            let scratch = try await ScratchDatabase.make(
                schema: "kitchen", migrations: [Migration(name: "m0001_cards", sql: tables)])
            let database = Database(scratch.configuration(poolSize: 8))
            database.start()
            try await database.waitUntilAvailable()
            let audit = AuditTrail(keys: try KeyRing(contents: KeyRing.generate(id: "k")))
            return Kitchen(
                scratch: scratch, drafts: DocumentDrafts(DocumentStore(Menu.kind, database: database)), audit: audit)
        }

        func close() { drafts.store.database.close() }

        func draft(_ dishes: JSONValue, copyOf version: Int64? = nil) async throws -> DocumentStore.StoredDraft {
            let content = try await drafts.beginning(
                version == nil ? ["dishes": dishes] : nil, copyOf: version, of: key)
            return try await drafts.store.database.transaction {
                try await drafts.store.create(content, copyOf: version, of: key, in: $0)
            }
        }

        func publish(_ number: Int64, accepting: String? = nil) async throws -> (Menu.Plan, [String: Int64]) {
            try await drafts.store.database.transaction { transaction in
                try await drafts.publish(
                    "\(number)", of: key, accepting: accepting, byOperator: true, audit: audit, in: transaction,
                    plan: { try Menu.Plan($0, of: key, after: $1) }, counts: { _ in ["guests": 7] })
            }
        }

        func retire(_ version: String) async throws -> DocumentStore.VersionRow {
            try await drafts.store.database.transaction {
                try await drafts.retire(version, of: key, audit: audit, in: $0)
            }
        }

        func imported(_ version: Int64, _ dishes: [JSONValue]) throws -> DocumentImport<Menu> {
            let content: JSONValue = ["key": .string(key), "version": .integer(version), "dishes": .array(dishes)]
            return DocumentImport(try Menu(CanonicalJSON.bytes(of: content)), in: drafts.store) { earlier in
                try earlier.contains { try Menu($0).file.dishes.contains("cake") }
                    ? [DocumentProblem(code: "E14", pointer: "/dishes", message: "Cake was promised.")] : []
            }
        }
    }

    @Test func aDraftIsWrittenPublishedAndRetired() async throws {
        let kitchen = try await Kitchen.open()
        defer { kitchen.close() }
        let (drafts, key) = (kitchen.drafts, kitchen.key)
        #expect(try await kitchen.draft(["soup"]).number == 1)
        let changed = try await drafts.replace("1", of: key, by: ["dishes": ["soup", "cake"]], ifMatch: "\"r1\"")
        #expect(changed.revision == 2)
        for tags in ["\"r1\"", "\"r1\", W/\"r2\""] {
            await refuses("precondition_failed") {
                try await drafts.replace("1", of: key, by: ["dishes": []], ifMatch: tags)
            }
        }
        _ = try await drafts.replace("1", of: key, by: changed.content, ifMatch: "\"r1\" , \"r2\"")
        let (plan, counts) = try await kitchen.publish(1)
        #expect(plan.document.version == 1 && plan.changes == [] && counts == ["guests": 7])
        await refuses("draft_published") {
            try await drafts.replace("1", of: key, by: ["dishes": []], ifMatch: nil)
        }
        await refuses("draft_published") { try await drafts.delete("1", of: key) }
        await refuses("draft_published") { try await kitchen.publish(1) }

        let copy = try await kitchen.draft([], copyOf: 1)
        #expect(copy.copyOf == 1 && copy.content["derivedFrom"]?["version"] == 1)
        var members = copy.content.objectValue ?? [:]
        members["dishes"] = ["cake", "tea"]
        _ = try await drafts.replace("2", of: key, by: .object(members), ifMatch: "*")
        let refusal = await #expect(throws: BusError.self) { try await kitchen.publish(2, accepting: "additive") }
        #expect(refusal?.code == "change_not_accepted" && refusal?.details?["guests"] == 7)
        #expect(refusal?.details?["changeClass"] == "breaking")
        #expect(try await kitchen.publish(2, accepting: "breaking").0.changes.map(\.kind) == [.added, .removed])

        let both = try await drafts.versions(from: 1, to: 2, of: key)
        let lines = Menu.Difference(
            from: try Menu(CanonicalJSON.bytes(of: both.old)).file,
            to: try Menu(CanonicalJSON.bytes(of: both.new)).file
        ).lines
        #expect(
            lines == [
                "breaking: dish_removed (soup) [/dishes/0]", "additive: dish_added (tea) [/dishes/1]",
                "2 changes; the version is breaking",
            ])
        #expect(try await drafts.store.newest(of: key)?.version == 2)
        #expect(try await kitchen.retire("2").retiredAt != nil)
        #expect(try await kitchen.retire("2").isCurrent == false)
        #expect(try await drafts.store.current().map(\.version) == [1])
        let acts = try await kitchen.scratch.query(
            "SELECT act, details::json ->> 'menu', details::json ->> 'by' FROM audit ORDER BY sequence")
        #expect(
            acts.split(separator: "\n") == [
                "menu_published|lunch|operator", "menu_published|lunch|operator",
                "menu_retired|lunch|",
            ])
    }

    @Test func missingOrUnpublishableDraftsAreRefused() async throws {
        let kitchen = try await Kitchen.open()
        defer { kitchen.close() }
        let (drafts, key) = (kitchen.drafts, kitchen.key)
        for number in ["1", "0", "01", "x", "99999999999"] {
            await refuses("not_found") { try await drafts.draft(number, of: key) }
            await refuses("not_found") { try await drafts.delete(number, of: key) }
            await refuses("not_found") { try await kitchen.retire(number) }
        }
        await refuses("not_found") { try await kitchen.publish(1) }
        await refuses("not_found") { try await kitchen.draft([], copyOf: 1) }
        for (content, version) in [(nil, nil), (["dishes": []], 1), ("soup", nil)] as [(JSONValue?, Int64?)] {
            let error = await #expect(throws: BusError.self) {
                try await drafts.beginning(content, copyOf: version, of: key)
            }
            #expect(error?.code == "validation_failed" && error?.errors?.map(\.field) == ["card"])
        }
        _ = try await kitchen.draft([])
        let error = await #expect(throws: BusError.self) { try await kitchen.publish(1) }
        #expect(error?.code == "definition_invalid" && error?.errors?.map(\.field) == ["/dishes"])
        try await drafts.delete("1", of: key)
        try await drafts.delete("1", of: key)
        #expect(try await kitchen.draft(["soup"]).number == 2, "a number is not used again")
        await refuses("validation_failed") { try await drafts.versions(from: 1, to: nil, of: key) }
        await refuses("not_found") { try await drafts.versions(from: 1, to: 2, of: key) }
    }

    @Test func aDocumentOfTheBuildIsPublishedOnce() async throws {
        let kitchen = try await Kitchen.open()
        defer { kitchen.close() }
        let first = try kitchen.imported(1, ["soup"])
        let results = try await atOnce(8) { try await patiently { try await first.run() } }
        #expect(results.count { $0 == .published } == 1)
        let book = LogBook()
        let log = Log(service: .questionnaire, instance: .random(), sink: book.append)
        try await kitchen.imported(1, ["stew"]).start(DocumentReport(), log: log)
        let problem = DocumentProblem(code: "E01", pointer: "/a", message: "So not.")
        try await kitchen.imported(2, ["cake"]).start(DocumentReport(problems: [problem]), log: log)
        try await kitchen.imported(2, ["cake"]).start(DocumentReport(warnings: [problem]), log: log)
        try await kitchen.imported(3, ["tea"]).start(DocumentReport(), log: log)
        let events = try book.text.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
        #expect(
            events.map { "\($0["event"]?.stringValue ?? "") \($0["code"]?.stringValue ?? "")" } == [
                "card_edited_after_publication ", "card_refused E01", "card_warning E01", "card_published ",
                "card_refused E14",
            ])
        #expect(events.allSatisfy { $0["menu"] == "lunch" })
        #expect(
            try await kitchen.scratch.query("SELECT version, content FROM cards ORDER BY version") == """
                1|{"dishes":["soup"],"key":"lunch","version":1}
                2|{"dishes":["cake"],"key":"lunch","version":2}
                """)
    }

    private func refuses<Value>(
        _ code: String, _ call: @Loop () async throws -> Value, at place: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: BusError.self, sourceLocation: place) { _ = try await call() }
        #expect(error?.code == code, sourceLocation: place)
    }
}
