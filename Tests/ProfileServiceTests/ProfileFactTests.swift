import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("what questionnaires may look at") struct ProfileFactTests {
    /// A fact is a field that is public and not sensitive. It is a choice from a list, or one line that is no name.
    @Test func theFactsFollowFromTheFieldCatalogue() {
        let views = FieldCatalogue.shipped.views.flatMap(\.fields)
        let sensitive = Set(views.filter(\.sensitive).map(\.key))
        #expect(sensitive.contains("religion") && sensitive.contains("gender"))
        let facts = FieldCatalogue.shipped.fields.filter { field in
            switch field.kind {
            case .choice, .line: field.isPublic && !sensitive.contains(field.key)
            default: false
            }
        }
        #expect(Set(facts.map(\.key)) == GetFacts.fields)
    }

    @Test func onlyAnsweredFactsAreReturned() async throws {
        try await ProfileStage.run { profile in
            let asking = try profile.stage.asking(as: .questionnaire)
            func facts(_ fields: [String], of person: Identifier) async throws -> [String: JSONValue] {
                try await asking.call(
                    GetFacts(personID: person, fields: fields), CallOptions(timeout: .seconds(10))
                ).facts
            }
            let all = GetFacts.fields.sorted() + ["religion", "dateOfBirth", "lastName", "bio", "weather"]
            #expect(try await facts(all, of: profile.person) == [:], "nobody whom profile knows")
            #expect(try await profile.stage.rows("SELECT count(*) FROM profiles") == "0", "and it makes no profile")
            try await profile.update([
                "displayName": "Zoë", "lastName": "Ågren", "dateOfBirth": "1994-02-28", "religion": "buddhist",
                "city": "Stockholm", "country": "SE", "bio": "Fika är livet",
            ])
            _ = try await profile.ask(SkipField(field: "state"))
            #expect(try await facts(all, of: profile.person) == ["city": "Stockholm", "country": "SE"])
            #expect(try await facts(["country"], of: profile.person) == ["country": "SE"])
            #expect(try await facts(["religion"], of: profile.person) == [:])
            #expect(try await facts(["timeZone"], of: profile.person) == [:], "not known")
            try await profile.update(["timeZone": "Europe/Stockholm"])
            #expect(
                try await facts(["country", "timeZone"], of: profile.person) == [
                    "country": "SE", "timeZone": "Europe/Stockholm",
                ])
            #expect(try await facts(all, of: profile.person) == ["city": "Stockholm", "country": "SE"])
        }
    }
}
