import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import Testing

/// From the preferences of two people to their comparison, over HTTP and the bus.
@Suite("preferences over HTTP") @Loop struct PreferenceRouteTests {
    private static let definition: JSONValue = {
        let preference: JSONValue = ["acceptable": true, "importance": [0, 1, 10, 50, 250]]
        let options: JSONValue = [["key": "yes", "labelKey": "o"], ["key": "no", "labelKey": "o"]]
        let questions = ["pets", "smoking"].map { key -> JSONValue in
            [
                "key": .string(key), "type": "single_choice", "textKey": "q", "required": true, "options": options,
                "preference": preference,
            ]
        }
        return [
            "key": "wishes", "version": 1, "titleKey": "q", "locales": ["en"], "defaultLocale": "en",
            "strings": ["en": ["q": "A text", "o": "An option"]],
            "sections": [["key": "all", "questions": .array(questions)]],
        ]
    }()

    private static func put(_ value: JSONValue, _ acceptable: [String], _ importance: Int64) -> JSONValue {
        [
            "mutationId": .string(Identifier.ordered().description), "state": "answered", "value": value,
            "preference": [
                "acceptable": .array(acceptable.map { .string($0) }), "importance": .integer(importance),
            ],
        ]
    }

    @Test func twoPeopleAreComparedByTheirPreferences() async throws {
        try await TestSystem.run { system in
            try await system.publish(Self.definition)
            var people: [Identifier] = []
            for (phone, pets, smoking) in [
                ("+14155550123", Self.put("yes", ["yes"], 250), Self.put("no", ["no"], 1)),
                ("+14155550124", Self.put("yes", ["no"], 10), Self.put("yes", ["no", "yes"], 50)),
            ] {
                let person = try await system.signIn(phone)
                people.append(person.user.id)
                let opened = try await system.send("POST", "/questionnaires/wishes/sessions", as: person)
                let session = "/questionnaires/wishes/sessions/" + (opened.json["id"]?.stringValue ?? "")
                #expect(try await system.send("PUT", session + "/answers/pets", pets, as: person).status == 200)
                #expect(try await system.send("PUT", session + "/answers/smoking", smoking, as: person).status == 200)
                let wrong = try await system.send(
                    "PUT", session + "/answers/pets", Self.put("yes", ["yes"], 7), as: person)
                #expect(wrong.status == 422 && wrong.json["errors"]?.arrayValue?.first?["field"] == "preference")
                let view = try await system.send("GET", session, as: person)
                #expect(view.json["answers"]?.arrayValue?.first?["preference"] == pets["preference"])
                let done = try await system.send("POST", session + "/complete", as: person)
                #expect(done.json["result"]?["answers"]?["pets"]?["preference"] == pets["preference"])
            }
            let bus = try system.voice(of: .profile)
            func compared(_ second: Identifier) async throws -> Likeness? {
                try await bus.call(
                    CompareProfiles(questionnaire: "wishes", first: people[0], second: second),
                    CallOptions(timeout: .seconds(10))
                ).affinity
            }
            // The first person gets 250 of 251 points and the second 50 of 60. With two questions, the comparison
            // subtracts a half.
            let wanted = ((250.0 / 251) * (50.0 / 60)).squareRoot() - 0.5
            let likeness = try #require(try await compared(people[1]))
            #expect(abs((likeness.score ?? 0) - 100 * wanted) < 0.002 && likeness.coverage == 100)
            #expect(try await compared(.random()) == nil)
            let kept = try await system.rows(
                .questionnaire, "SELECT count(*) FROM answer_history WHERE preference ->> 'importance' IS NOT NULL")
            #expect(kept == "4")
        }
    }
}
