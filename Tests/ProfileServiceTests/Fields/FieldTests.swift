import BusProtocol
import JSONText
import Testing

@testable import ProfileService

@Suite("fields") struct FieldTests {
    /// The first ones of the field catalogue.
    private static func interests(_ count: Int) -> [JSONValue] {
        guard case .choices(let options, _, _)? = FieldCatalogue.shipped.field("interests")?.kind else { return [] }
        return options.prefix(count).map { .string($0) }
    }

    private func judge(_ value: JSONValue, _ key: String) throws -> Result<JSONValue, FieldValidator.Refusal> {
        let field = try #require(FieldCatalogue.shipped.field(key))
        return Result { () throws(FieldValidator.Refusal) in try FieldValidator.canonical(value, for: field) }
    }

    @Test(
        "valid values are kept",
        arguments: [
            ("displayName", "  Zoe\u{308}  ", "Zoë"), ("displayName", "O’Brien-Smith Jr.", "O’Brien-Smith Jr."),
            ("firstName", "李", "李"), ("firstName", "Ñ", "Ñ"), ("bio", "", ""), ("bio", " two\nlines ", "two\nlines"),
            // A family is one character, of seven code points, 25 bytes.
            ("bio", .string(String(repeating: "👨‍👩‍👧‍👦", count: 160)), .string(String(repeating: "👨‍👩‍👧‍👦", count: 160))),
            ("bio", .string(String(repeating: "e\u{301}", count: 500)), .string(String(repeating: "é", count: 500))),
            ("city", "A\u{30A}re", "Åre"),
            ("dateOfBirth", "2000-02-29", "2000-02-29"), ("gender", "other", "other"),
            ("lookingFor", ["women", "men"], ["men", "women"]), ("lookingFor", ["everyone"], ["everyone"]),
            ("photo", "https://cdn.example/a.jpg", "https://cdn.example/a.jpg"), ("country", "SE", "SE"),
            ("languages", ["sv", "en"], ["en", "sv"]), ("ethnicity", ["white", "asian"], ["asian", "white"]),
            ("pets", ["none"], ["none"]), ("hasKids", false, false), ("politicalViews", "apolitical", "apolitical"),
            ("interests", .array(FieldTests.interests(10)), .array(FieldTests.interests(10))),
            ("heightInches", 48, 48), ("heightInches", 95, 95),
            ("coordinates", ["latitude": -90, "longitude": 180.0], ["latitude": -90, "longitude": 180]),
            ("coordinates", ["latitude": 59.32932, "longitude": -18.06855], ["latitude": 59.33, "longitude": -18.07]),
            ("coordinates", ["latitude": -0.004, "longitude": 17.999], ["latitude": 0, "longitude": 18]),
        ] as [(String, JSONValue, JSONValue)])
    func kept(key: String, given: JSONValue, expected: JSONValue) throws {
        #expect(try judge(given, key).get() == expected)
    }

    @Test(
        "invalid values are refused",
        arguments: [
            ("displayName", "A", "too_short"), ("displayName", "   ", "too_short"), ("displayName", "M4x", "malformed"),
            ("displayName", "Max 🔥", "malformed"), ("displayName", 7, "wrong_type"), ("firstName", "", "too_short"),
            ("firstName", .string(String(repeating: "a", count: 51)), "too_long"),
            ("bio", .string(String(repeating: "a", count: 501)), "too_long"), ("bio", "a\u{7}b", "malformed"),
            // One grapheme, and far too many bytes.
            ("bio", .string("a" + String(repeating: "\u{301}", count: 4000)), "too_long"),
            ("dateOfBirth", "2001-02-29", "malformed"), ("dateOfBirth", "2000-2-29", "malformed"),
            ("gender", "Male", "not_allowed"), ("gender", [], "wrong_type"), ("lookingFor", "men", "wrong_type"),
            ("lookingFor", [], "too_few"), ("lookingFor", ["men", "men"], "not_allowed"),
            ("lookingFor", ["men", 1], "wrong_type"), ("lookingFor", ["everyone", "men"], "not_allowed"),
            ("displayName", "- . -", "malformed"), ("displayName", "Zo\u{202E}e", "malformed"),
            ("bio", "Hej \u{202E}jeh", "malformed"), ("city", "Lu\u{2066}nd", "malformed"),
            ("bio", "a\tb", "malformed"),
            ("displayName", "Z\u{0}e", "malformed"), ("bio", "a\u{85}b", "malformed"),
            ("photo", "http://cdn.example/a.jpg", "malformed"), ("photo", "https://", "malformed"),
            ("photo", "https://a b", "malformed"), ("country", "se", "not_allowed"), ("country", "ZZ", "not_allowed"),
            ("city", "Lund\nMalmö", "malformed"),
            ("languages", ["sv", "swedish"], "not_allowed"), ("pets", ["none", "dogs"], "not_allowed"),
            ("hasKids", "yes", "wrong_type"), ("hasKids", 1, "wrong_type"), ("zodiac", "ophiuchus", "not_allowed"),
            ("interests", .array(FieldTests.interests(11)), "too_many"), ("religion", "jedi", "not_allowed"),
            ("heightInches", 47, "too_small"), ("heightInches", 96, "too_large"), ("heightInches", 70.5, "wrong_type"),
            ("coordinates", ["latitude": 90.1, "longitude": 0], "malformed"),
            ("coordinates", ["latitude": 0], "malformed"),
            ("coordinates", ["latitude": 0, "longitude": 0, "altitude": 0], "malformed"),
        ] as [(String, JSONValue, String)])
    func refused(key: String, given: JSONValue, code: String) throws {
        guard case .failure(let refusal) = try judge(given, key) else {
            Issue.record("\(key) takes \(given)")
            return
        }
        #expect(refusal.code == code && refusal.message.hasSuffix("."))
    }
}
