import BusProtocol
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// The effect of a version's policy on people with an open session, over HTTP.
@Suite("policies of versions") @Loop struct VersionPolicyTests {
    private static func definition(
        _ version: Int64, title: String = "Home", questions: [String], policy: JSONValue = .null,
        migrations: JSONValue = []
    ) -> JSONValue {
        [
            "key": "home", "version": .integer(version), "titleKey": "t", "locales": ["en"], "defaultLocale": "en",
            "strings": ["en": ["q": "A text", "t": .string(title)]], "policy": policy,
            "migrations": migrations,
            "sections": [
                [
                    "key": "home",
                    "questions": .array(
                        questions.map { ["key": .string($0), "type": "text", "textKey": "q", "required": true] }),
                ]
            ],
        ]
    }

    private static func put(_ value: JSONValue, mutation: Identifier = .ordered()) -> JSONValue {
        ["mutationId": .string(mutation.description), "state": "answered", "value": value]
    }

    @Test func anOpenSessionIsOfferedTheNewestVersionsOffer() async throws {
        try await TestSystem.run { system in
            try await system.publish(Self.definition(1, questions: ["town"]))
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", "/questionnaires/home/sessions", as: person)
            let session = "/questionnaires/home/sessions/" + (opened.json["id"]?.stringValue ?? "")
            func offer() async throws -> JSONValue? {
                try await system.send("GET", session, as: person).json["offer"]
            }
            #expect(opened.json["offer"] == nil)
            #expect(try await offer() == nil, "it is the newest")
            try await system.publish(Self.definition(2, title: "At home", questions: ["town"]))
            #expect(try await offer() == ["version": 2, "class": "editorial"])
            try await system.publish(Self.definition(3, questions: ["town", "street"]))
            #expect(try await offer() == ["version": 3, "class": "reask"])
            let again = try await system.send("POST", "/questionnaires/home/sessions", as: person)
            #expect(again.status == 200 && again.json["offer"] == ["version": 3, "class": "reask"])
            // Removing a question makes no offer unless the policy says so. Over several versions, the gravest class
            // counts.
            try await system.publish(Self.definition(4, questions: ["street"]))
            #expect(try await offer() == nil)
            try await system.publish(Self.definition(5, title: "At home", questions: ["street"]))
            #expect(try await offer() == nil)
            let policy: JSONValue = ["onPublish": ["breaking": "offer", "editorial": "pin"]]
            try await system.publish(Self.definition(6, questions: ["street"], policy: policy))
            #expect(try await offer() == ["version": 6, "class": "breaking"])
            try await system.rows(
                .questionnaire, "INSERT INTO retirements VALUES ('home', 6), ('home', 5), ('home', 4)")
            #expect(try await offer() == ["version": 3, "class": "reask"], "what is retired is offered to nobody")
            let moved = try await system.send("POST", session + "/migrations", as: person)
            #expect(moved.json["toVersion"] == 3)
            #expect(try await offer() == nil)
            let back = try await system.send("POST", session + "/migrations/undo", as: person)
            #expect(back.json["offer"] == ["version": 3, "class": "reask"])
            _ = try await system.send("PUT", session + "/answers/town", Self.put("Umeå"), as: person)
            let done = try await system.send("POST", session + "/complete", as: person)
            #expect(done.status == 200 && done.json["offer"] == nil, "nobody is asked about what is over")
        }
    }

    /// The database's clock decides. The test changes the time of the retirement.
    @Test func aRetiredVersionsSessionMayFinishWithinItsTerm() async throws {
        try await TestSystem.run { system in
            try await system.publish(Self.definition(1, questions: ["town", "street"], policy: ["drainDays": 30]))
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", "/questionnaires/home/sessions", as: person)
            let session = "/questionnaires/home/sessions/" + (opened.json["id"]?.stringValue ?? "")
            let write = Self.put("Umeå")
            let first = try await system.send("PUT", session + "/answers/town", write, as: person)
            try await system.publish(Self.definition(2, questions: ["town", "street", "house"]))
            func retire(daysAgo: String) async throws {
                try await system.rows(
                    .questionnaire,
                    """
                    INSERT INTO retirements VALUES ('home', 1, clock_timestamp() - interval '\(daysAgo)')
                    ON CONFLICT (questionnaire, version) DO UPDATE SET retired_at = excluded.retired_at
                    """)
            }
            try await retire(daysAgo: "29 days 23 hours")
            let inTime = try await system.send("PUT", session + "/answers/street", Self.put("Storgatan"), as: person)
            #expect(inTime.status == 200)
            try await retire(daysAgo: "30 days 1 second")
            let item = Self.put("Lund").objectValue?.merging(["question": "town"]) { $1 } ?? [:]
            for (method, path, body) in [
                ("PUT", "/answers/town", Self.put("Lund")), ("DELETE", "/answers/town", [:]),
                ("POST", "/answers:batch", ["answers": [.object(item)]]), ("POST", "/complete", nil),
            ] as [(String, String, JSONValue?)] {
                let late = try await system.send(method, session + path, body, as: person)
                #expect(late.status == 409 && late.json["code"] == "version_closed", "\(method) \(path)")
            }
            let repeated = try await system.send("PUT", session + "/answers/town", write, as: person)
            #expect(repeated.status == 200 && repeated.body == first.body, "what was saved is answered as then")
            let view = try await system.send("GET", session, as: person)
            #expect(view.json["progress"]?["answered"] == 2 && view.json["offer"]?["version"] == 2)
            #expect(try await system.rows(.questionnaire, "SELECT count(*) FROM answer_history") == "2")
            #expect(try await system.send("POST", session + "/migrations", as: person).status == 200)
            _ = try await system.send("PUT", session + "/answers/house", Self.put("1 A"), as: person)
            let done = try await system.send("POST", session + "/complete", as: person)
            #expect(done.status == 200 && done.json["status"] == "completed")
        }
    }

    /// Without the member `drainDays`, the session can be finished at any time.
    @Test func aRetiredVersionWithoutATermMayBeFinishedAtAnyTime() async throws {
        try await TestSystem.run { system in
            try await system.publish(Self.definition(1, questions: ["town"]))
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", "/questionnaires/home/sessions", as: person)
            let session = "/questionnaires/home/sessions/" + (opened.json["id"]?.stringValue ?? "")
            try await system.rows(.questionnaire, "INSERT INTO retirements VALUES ('home', 1, '2020-01-01')")
            let saved = try await system.send("PUT", session + "/answers/town", Self.put("Umeå"), as: person)
            #expect(saved.status == 200)
            #expect(try await system.send("POST", session + "/complete", as: person).status == 200)
        }
    }

    /// There is no newer version yet to which the session could migrate.
    @Test func theNewestVersionsSessionsOutliveItsRetirement() async throws {
        try await TestSystem.run { system in
            for version in [1, 2] as [Int64] {
                let policy: JSONValue = ["drainDays": 1]
                try await system.publish(
                    Self.definition(version, title: "Home \(version)", questions: ["town"], policy: policy))
            }
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", "/questionnaires/home/sessions", as: person)
            #expect(opened.json["questionnaire"]?["version"] == 2)
            let session = "/questionnaires/home/sessions/" + (opened.json["id"]?.stringValue ?? "")
            try await system.rows(.questionnaire, "INSERT INTO retirements VALUES ('home', 2, '2020-01-01')")
            let saved = try await system.send("PUT", session + "/answers/town", Self.put("Umeå"), as: person)
            #expect(saved.status == 200)
            try await system.publish(Self.definition(3, title: "Home 3", questions: ["town"]))
            let late = try await system.send("PUT", session + "/answers/town", Self.put("Lund"), as: person)
            #expect(late.status == 409 && late.json["code"] == "version_closed")
        }
    }

    /// A question's key is renamed and then renamed back, as when a rename is rolled back.
    @Test func aRenamedBackQuestionTakesALaterAnswer() async throws {
        try await TestSystem.run { system in
            let rename: JSONValue = [["rename": ["old": "town", "new": "city"]]]
            try await system.publish(Self.definition(1, questions: ["town"]))
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", "/questionnaires/home/sessions", as: person)
            let session = "/questionnaires/home/sessions/" + (opened.json["id"]?.stringValue ?? "")
            let first = try await system.send("PUT", session + "/answers/town", Self.put("Umeå"), as: person)
            #expect(first.json["revision"] == 1, "\(first.json)")
            try await system.publish(Self.definition(2, questions: ["city"], migrations: rename))
            let moved = try await system.send("POST", session + "/migrations", as: person)
            #expect(moved.json["kept"] == ["city"])
            // A draft may go back to the keys of an older version.
            let back = try DefinitionParser.parse(CanonicalJSON.bytes(of: Self.definition(3, questions: ["town"])))
            try await system.rows(
                .questionnaire,
                """
                INSERT INTO definitions (questionnaire, version, content_hash, content) VALUES
                    ('home', 3, '\\x\(Hex.encode(back.hash))', '\(String(decoding: back.canonicalText, as: UTF8.self))')
                """)
            #expect(try await system.send("POST", session + "/migrations", as: person).json["orphaned"] == ["city"])
            let view = try await system.send("GET", session, as: person)
            #expect(view.json["progress"]?["answered"] == 0)
            let second = try await system.send("PUT", session + "/answers/town", Self.put("Lund"), as: person)
            #expect(second.status == 200 && second.json["revision"] == 3)
            let history =
                "SELECT string_agg(question || ' ' || revision, ' ' ORDER BY question, revision) FROM answer_history"
            #expect(try await system.rows(.questionnaire, history) == "city 1 town 1 town 2 town 3")
        }
    }
}
