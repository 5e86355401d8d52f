import BusProtocol
import Documents
import JSONText
import TestSupport
import Testing

@testable import ProfileService

/// A plan of this release with one defect is refused, by a code and a JSON pointer.
@Suite("plans that do not hold together") struct PlanDefectTests {
    struct Defect: Sendable {
        let part: String
        let other: String
        let code: String
        let pointer: String

        init(_ part: String, _ other: String, _ code: String, _ pointer: String) {
            (self.part, self.other, self.code, self.pointer) = (part, other, code, pointer)
        }
    }

    private static let file = String(decoding: EmbeddedFiles.Plans.yoked.bytes, as: UTF8.self)
    private static let name = #""key": "name", "titleKey": "screen.name""#
    private static let displayName = #"{"field": "displayName", "need": "required"}"#
    private static let verification = #"{"key": "verification", "task": "verification", "need": "required"}"#
    private static let methods = #""methods": ["phone_code", "google", "apple"], "phone": "required""#

    private static func display(_ members: String) -> String {
        #"{"field": "displayName", "need": "required", \#(members)}"#
    }

    private static let first = "/steps/0/screens/0/fields/0"
    private static let defects = [
        Defect("{", "[", "malformed", ""),
        Defect(#""version": 4"#, #""version": 0"#, "malformed", "/version"),
        Defect(#""version": 4"#, #""version": 1, "colour": "red""#, "malformed", "/colour"),
        Defect(#""key": "yoked""#, #""key": """#, "malformed", "/key"),
        Defect(#""under": "soft_block""#, #""under": "ignore""#, "malformed", "/age/under"),
        Defect(#""minimum": 18"#, #""minimum": 0"#, "malformed", "/age/minimum"),
        Defect(#""phone_code", "google""#, #""password", "google""#, "malformed", "/signIn/methods/0"),
        Defect(#""phone": "required""#, #""phone": "maybe""#, "malformed", "/signIn/phone"),
        Defect(
            #""repromptAfterSeconds": 604800"#, #""repromptAfterSeconds": 1"#, "malformed",
            "/policy/repromptAfterSeconds"),
        Defect(#""field": "bodyType"}"#, #""field": "shoeSize"}"#, "unknown_field", "/policy/wishes/0/field"),
        Defect(#"d", "field": "bodyType"}"#, #"d", "field": "lastName"}"#, "contradiction", "/policy/wishes/0/field"),
        Defect(#"d", "field": "bodyType"}"#, #"d", "field": "heightInches"}"#, "contradiction", "/policy/wishes/0"),
        Defect(#""preferredHeight""#, #""preferredBuild""#, "duplicate_key", "/policy/wishes/1/question"),
        Defect(#""task": "verification""#, #""task": "astrology""#, "malformed", "/steps/3/task"),
        Defect(#""browse": {}"#, #""dance": {}"#, "malformed", "/capabilities/dance"),
        Defect(verification, verification.replacing("required", with: "perhaps"), "malformed", "/steps/3/need"),
        Defect(
            verification, verification.replacing(#""task""#, with: #""questionnaire": "skin-care", "task""#),
            "malformed",
            "/steps/3"),
        Defect(verification, #"{"key": "verification", "need": "optional"}"#, "malformed", "/steps/3"),
        Defect(
            verification, verification.replacing(#""task": "verification""#, with: #""task": "visual_preferences""#),
            "duplicate_key", "/steps/3/task"),
        Defect(#""key": "questionnaire""#, #""key": "profile""#, "duplicate_key", "/steps/1/key"),
        Defect(#""key": "questionnaire""#, #""key": "bio""#, "duplicate_key", "/steps/0/screens/7/fields/0/field"),
        Defect(#""key": "birthday""#, #""key": "name""#, "duplicate_key", "/steps/0/screens/1/key"),
        Defect(#""key": "birthday""#, #""key": "account""#, "duplicate_key", "/steps/0/screens/1/key"),
        Defect(#"{"field": "firstName"}"#, displayName, "duplicate_key", "/steps/0/screens/0/fields/1/field"),
        Defect(#""apps": ["yoked"]"#, #""apps": ["yoked", "yoked"]"#, "duplicate_key", "/apps/1"),
        Defect(#""apps": ["yoked"]"#, #""apps": [], "entries": ["a", "b", "a"]"#, "duplicate_key", "/entries/2"),
        Defect(#""locales": ["en", "sv"]"#, #""locales": ["en", "sv", "en"]"#, "duplicate_key", "/locales/2"),
        Defect(#""google", "apple""#, #""google", "google""#, "duplicate_key", "/signIn/methods/2"),
        Defect(
            #""due": ["displayName", "dateOfBirth", "v"#, #""due": ["displayName", "displayName", "v"#, "duplicate_key",
            "/capabilities/like/due/1"),
        Defect(displayName, #"{"field": "nickname"}"#, "unknown_field", "\(first)/field"),
        Defect(displayName, display(#""minLength": 1"#), "not_tightened", "\(first)/minLength"),
        Defect(displayName, display(#""maxLength": 51"#), "not_tightened", "\(first)/maxLength"),
        Defect(displayName, display(#""max": 3"#), "not_tightened", "\(first)/max"),
        Defect(displayName, display(#""minLength": 20, "maxLength": 10"#), "impossible", "\(first)/minLength"),
        Defect(displayName, display(#""options": ["male"]"#), "unknown_option", "\(first)/options/0"),
        Defect(
            #"{"field": "gender", "need": "required"}"#, #"{"field": "gender", "options": ["male", "male"]}"#,
            "duplicate_key", "/steps/0/screens/2/fields/0/options/1"),
        Defect(
            #"{"field": "interests"}"#, #"{"field": "interests", "maxSelections": 11}"#, "not_tightened",
            "/steps/0/screens/8/fields/0/maxSelections"),
        Defect(displayName, display(#""labelKey": "nobody""#), "missing_text", "\(first)/labelKey"),
        Defect(name, name.replacing("screen.name", with: "screen.nome"), "missing_text", "/steps/0/screens/0/titleKey"),
        Defect(#""titleKey": "account""#, #""titleKey": "konto""#, "missing_text", "/signIn/titleKey"),
        Defect(#""screen.name": "Namn""#, #""screen.nome": "Namn""#, "missing_text", "/steps/0/screens/0/titleKey"),
        Defect(#""account": "Konto""#, #""account": "Konto", "more": "Mer""#, "unused_text", "/strings/sv/more"),
        Defect(#""defaultLocale": "en""#, #""defaultLocale": "de""#, "unknown_locale", "/defaultLocale"),
        Defect(#""locales": ["en", "sv"]"#, #""locales": ["en"]"#, "unknown_locale", "/strings/sv"),
        Defect(methods, methods.replacing("required", with: "none"), "contradiction", "/signIn/phone"),
        Defect(methods, methods.replacing(#""phone_code", "#, with: ""), "contradiction", "/signIn/phone"),
        Defect(#"{"field": "dateOfBirth", "need": "required"}"#, #"{"field": "x"}"#, "contradiction", "/age"),
        Defect(
            #""wanted": ["photo", "bio"]"#, #""wanted": ["photo", "song"]"#, "unknown_need",
            "/capabilities/match/wanted/1"),
        Defect(displayName, display(#""dueAt": "tomorrow""#), "malformed", "\(first)/dueAt"),
        Defect(
            #"{"field": "firstName"}"#, #"{"field": "firstName", "dueAt": "2026-12-08T09:00:00Z"}"#, "contradiction",
            "/steps/0/screens/0/fields/1/dueAt"),
        Defect(
            verification, verification.replacing("required\"", with: #"optional", "dueAt": "2026-12-08T09:00:00Z""#),
            "contradiction",
            "/steps/3/dueAt"),
        Defect(#""version": 4"#, #""version": 3, "moves": {"from": [1, 2, 1]}"#, "duplicate_key", "/moves/from/2"),
        Defect(#""version": 4"#, #""version": 3, "moves": {"from": [3]}"#, "unknown_version", "/moves/from/0"),
        Defect(#""version": 4"#, #""version": 3, "moves": {"from": []}"#, "malformed", "/moves/from"),
    ]

    @Test("is refused by its code and place", arguments: defects)
    func refused(_ defect: Defect) throws {
        try #require(Self.file.contains(defect.part), "the file has no such part")
        let edited = Self.file.replacing(defect.part, with: defect.other, maxReplacements: 1)
        let library = try FieldLibrary.shipped.get().library
        let error = #expect(throws: DocumentError.self) {
            try PlanParser.parse(PlanDocument(Array(edited.utf8)), library)
        }
        let found = error?.problems.map { "\($0.code) \($0.pointer)" } ?? []
        #expect(found.contains("\(defect.code) \(defect.pointer)"), "\(found)")
    }

    @Test func atLeastOneStepIsRequiredAndOneHasFields() throws {
        let library = try FieldLibrary.shipped.get().library
        let file = String(decoding: EmbeddedFiles.Plans.eko_family.bytes, as: UTF8.self)
        for (part, other, code) in [
            (#""need": "required""#, #""need": "optional""#, "nothing_required"),
            (#""screens""#, #""task": "verification", "screens""#, "malformed"),
        ] {
            try #require(file.contains(part))
            let edited = Array(file.replacing(part, with: other).utf8)
            let error = #expect(throws: DocumentError.self) { try PlanParser.parse(PlanDocument(edited), library) }
            #expect(error?.problems.contains { $0.code == code } ?? false)
        }
    }
}
