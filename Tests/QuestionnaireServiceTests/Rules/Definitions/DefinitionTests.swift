import BusProtocol
import Cryptography
import Documents
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("the definition that is shipped") struct ShippedDefinitionTests {
    let definition: Definition

    init() throws { definition = try DefinitionParser.parse(EmbeddedFiles.Definitions.yoked_compat.bytes) }

    @Test func has25QuestionsOfWhich10AreRequired() {
        #expect(definition.questions.count == 25)
        #expect(definition.questions.count { $0.required } == 10)
        let bySection = Dictionary(grouping: definition.questions, by: \.section)
        #expect(
            bySection.mapValues(\.count) == ["values": 7, "lifestyle": 6, "communication": 6, "physicalPreference": 6])
        let required = bySection.mapValues { $0.count { $0.required } }
        #expect(required == ["values": 4, "lifestyle": 3, "communication": 3, "physicalPreference": 0])
    }

    @Test func hasEachOfTheFiveTypes() {
        #expect(Set(definition.questions.map(\.kind)) == [.singleChoice, .multiChoice, .slider, .ranking, .tags])
        #expect(definition.questions.filter { $0.section == "physicalPreference" }.allSatisfy { $0.kind == .tags })
    }

    @Test func letsEveryOptionalQuestionBeSkippedAndNoRequiredOne() {
        #expect(definition.questions.allSatisfy { $0.required != $0.skippable })
    }

    @Test func hasTextsEverywhere() {
        #expect(definition.translations["en"]?.title.isEmpty == false)
        for question in definition.questions {
            #expect(!question.text.isEmpty && question.options.allSatisfy { !$0.label.isEmpty })
            if question.kind == .slider {
                #expect(question.constraints.minLabel != nil && question.constraints.maxLabel != nil)
            }
        }
    }
}

@Suite("reading definitions") struct DefinitionParserTests {
    @Test func thePublicDocumentListsEveryKindAndForm() {
        let presentations = Set(QuestionKind.allCases.flatMap(\.presentations))
        #expect(QuestionView.schema.known("type") == QuestionKind.allCases.map(\.rawValue).sorted())
        #expect(QuestionView.schema.known("presentation") == presentations.sorted())
        let forms = TextPattern.allCases.map(\.rawValue) + ["https_url", "media_id"]
        #expect(QuestionConstraints.schema.known("format") == forms.sorted())
        #expect(SessionOffer.schema.known("class") == ChangeClass.allCases.map(\.rawValue).sorted())
    }

    /// The smallest definition that can be published.
    static let smallest: JSONValue = [
        "key": "a-b", "version": 1, "titleKey": "t", "locales": ["en"], "defaultLocale": "en",
        "strings": ["en": ["t": "Title", "q": "Question?", "o": "Option"]],
        "sections": [
            [
                "key": "one",
                "questions": [
                    [
                        "key": "first", "type": "single_choice", "textKey": "q",
                        "options": [["key": "o", "labelKey": "o"]],
                    ]
                ],
            ]
        ],
    ]

    static func parse(_ value: JSONValue) throws(DefinitionError) -> Definition {
        try DefinitionParser.parse(CanonicalJSON.bytes(of: value))
    }

    static func problems(_ value: JSONValue) -> Set<String> {
        do throws(DefinitionError) {
            _ = try parse(value)
            return []
        } catch {
            return Set(error.problems.map { "\($0.code) \($0.pointer)" })
        }
    }

    @Test func hashIsTakenOfTheContentAlone() throws {
        let plain = try Self.parse(Self.smallest)
        var other = Self.smallest.objectValue ?? [:]
        other["status"] = "published"
        other["contentHash"] = .string(Hex.encode(plain.hash))
        let spaced = Array(
            String(decoding: CanonicalJSON.bytes(of: .object(other)), as: UTF8.self).replacing(",", with: " ,\n").utf8)
        let same = try DefinitionParser.parse(spaced)
        #expect(same.hash == plain.hash && same.canonicalText == plain.canonicalText)
        #expect(SHA256.digest(plain.canonicalText) == plain.hash)
        #expect(try DefinitionParser.parse(plain.canonicalText).hash == plain.hash, "the stored text reads back")
        other["version"] = 2
        #expect(Self.problems(.object(other)) == ["malformed /contentHash"])
    }

    @Test(
        "a duplicate key is refused whichever has more options",
        arguments: ["tags", "no type"])
    func refusesADuplicateKey(firstType: String) {
        func question(_ type: String, _ options: [String]) -> JSONValue {
            let offered = options.map { JSONValue.object(["key": .string($0), "labelKey": "o"]) }
            return ["key": "first", "type": .string(type), "textKey": "q", "options": .array(offered)]
        }
        for (first, second) in [(["o"], ["o", "p", "r"]), (["o", "p", "r"], ["o"])] {
            var members = Self.smallest.objectValue ?? [:]
            members["sections"] = [
                ["key": "one", "questions": [question(firstType, first), question("single_choice", second)]]
            ]
            let error = #expect(throws: DefinitionError.self) {
                try DefinitionParser.parse(CanonicalJSON.bytes(of: .object(members)))
            }
            #expect(error?.problems.contains { $0.pointer == "/sections/0/questions/1/key" } == true)
        }
    }

    @Test func refusesTextThatIsNoJSON() {
        #expect(throws: DefinitionError.self) { try DefinitionParser.parse(Array("{\"key\":1,}".utf8)) }
        #expect(throws: DefinitionError.self) { try DefinitionParser.parse(Array("{\"key\":1,\"key\":1}".utf8)) }
    }

    @Test func namesEveryProblemOfTheShapeWithItsPointer() {
        let wrong = Self.smallest.setting("version", to: "1").setting("strings.en", to: ["q.a/b": 1]).setting(
            "extra", to: true)
        #expect(
            Self.problems(wrong).isSuperset(of: [
                "malformed /version", "malformed /extra", "malformed /strings/en/q.a~1b",
            ]))
    }

    static let question = "sections.0.questions.0"
    static let pointer = "/sections/0/questions/0"

    @Test(
        "each broken rule is refused",
        arguments: [
            ("key", "Not Kebab", "malformed /key"),
            ("locales", ["en", "sv"], "E11 /strings"), ("locales", ["en", "en"], "E01 /locales/1"),
            ("locales", ["en", "e_n"], "malformed /locales/1"), ("defaultLocale", "sv", "E11 /defaultLocale"),
            ("strings.en.spare", "Text", "E11 /strings/en/spare"),
            ("sections.0.titleKey", "missing", "E11 /sections/0/titleKey"),
            ("derivedFrom", ["version": 1], "malformed /derivedFrom/contentHash"),
            ("derivedFrom", ["version": 1, "contentHash": "0af9"], "malformed /derivedFrom/contentHash"),
            ("policy", ["onPublish": ["additive": "ask"]], "malformed /policy/onPublish/additive"),
            ("policy", ["onPublish": ["graver": "pin"]], "malformed /policy/onPublish/graver"),
            ("policy", ["drainDays": -1], "malformed /policy/drainDays"),
            ("migrations", [["drop": [:]]], "E15 /migrations/0/drop"),
            ("sections.0.visibleIf", ["==": [1, 1]], "E05 /sections/0/visibleIf/=="),
            ("sections.0.repeat", ["subject": "child"], "malformed /sections/0/repeat/min"),
            ("sections.0.repeat", ["subject": "a_b", "min": 1, "max": 2], "malformed /sections/0/repeat/subject"),
            ("sections.0.repeat", ["subject": "child", "min": 3, "max": 2], "E08 /sections/0/repeat/min"),
            ("sections.0.repeat", ["subject": "x", "min": 1, "max": 2, "label": "no"], "E02 /sections/0/repeat/label"),
            (
                "sections.0.repeat", ["subject": "x", "min": 1, "max": 2, "label": "first"],
                "E05 /sections/0/repeat/label"
            ),
            ("\(question).extract", [:], "malformed \(pointer)/extract/profileField"),
            ("\(question).extract", ["profileField": "not_camel"], "malformed \(pointer)/extract/profileField"),
            ("\(question).preference", [:], "malformed \(pointer)/preference/acceptable"),
            (
                "\(question).preference", ["acceptable": false, "importance": [1]],
                "E08 \(pointer)/preference/acceptable"
            ),
            (
                "\(question).preference", ["acceptable": true, "importance": [10, 1]],
                "E08 \(pointer)/preference/importance"
            ),
            ("\(question).defaultCounts", true, "E08 \(pointer)/defaultCounts"),
            ("\(question).key", "not_camel", "malformed \(pointer)/key"),
            ("\(question).slug", "notKebab", "malformed \(pointer)/slug"),
            ("\(question).type", "essay", "malformed \(pointer)/type"),
            ("\(question).textKey", "missing", "E11 \(pointer)/textKey"),
            ("titleKey", "missing", "E11 /strings/en/t"),
            ("\(question).default", "nothing", "E08 \(pointer)/default"),
            ("\(question).presentation", "slider", "E08 \(pointer)/presentation"),
            ("\(question).constraints", ["min": 1], "E08 \(pointer)/constraints/min"),
            ("\(question).constraints", ["min": 0.0001], "malformed \(pointer)/constraints/min"),
            ("\(question).constraints", ["pattern": ".*"], "malformed \(pointer)/constraints/pattern"),
            ("\(question).options.0.key", "Not", "malformed \(pointer)/options/0/key"),
            ("\(question).options.0.score", ["kindness": 1], "E13 \(pointer)/options/0/score/kindness"),
            ("dimensions", [["key": "d", "method": "weighted_mean"]], "E13 /dimensions/0"),
            ("dimensions", [["key": "d", "method": "magic"]], "malformed /dimensions/0/method"),
            ("dimensions", [["key": "d", "method": "tag_vector", "range": [1, 1]]], "E08 /dimensions/0/range"),
        ] as [(String, JSONValue, String)])
    func rule(path: String, value: JSONValue, problem: String) {
        let found = Self.problems(Self.smallest.setting(path, to: value))
        #expect(found.contains(problem), "\(found)")
    }

    @Test func requiredAndSkippableExcludeEachOther() {
        let both = Self.smallest.setting("\(Self.question).required", to: true).setting(
            "\(Self.question).skippable", to: true)
        #expect(Self.problems(both) == ["E08 \(Self.pointer)/skippable"])
    }

    @Test func sevenRadioButtonsAreTooManyAndSevenEntriesOfASelectAreNot() {
        let options = JSONValue.array((0..<7).map { ["key": .string("o\($0)"), "labelKey": "o"] })
        let radio = Self.smallest.setting("\(Self.question).options", to: options)
        #expect(Self.problems(radio) == ["E12 \(Self.pointer)/options"])
        #expect(Self.problems(radio.setting("\(Self.question).presentation", to: "select")) == [])
    }

    @Test(
        "impossible constraints are refused",
        arguments: [
            ("slider", ["min": 1], nil, "constraints"), ("slider", ["min": 2, "max": 1], nil, "constraints/min"),
            ("slider", ["min": 0, "max": 10, "step": 3], nil, "constraints/step"),
            ("slider", ["min": 0, "max": 10, "step": 2], 5, "default"),
            ("multi_choice", ["min": 2], nil, "constraints/min"),
            ("multi_choice", ["min": 0], nil, "constraints/min"),
            ("ranking", ["topK": 3], nil, "constraints/topK"),
            ("text", ["minLength": 5, "maxLength": 4], nil, "constraints/minLength"),
            ("date", ["earliest": "2020-01-02", "latest": "2020-01-01"], nil, "constraints/earliest"),
            ("date", ["minAge": 2, "maxAge": 1], nil, "constraints/minAge"),
            ("date", ["minAge": 18], "2000-01-01", "default"),
        ] as [(String, JSONValue, JSONValue?, String)])
    func impossible(type: String, constraints: JSONValue, suggestion: JSONValue?, member: String) {
        var definition = Self.smallest.setting("\(Self.question).type", to: .string(type))
            .setting("\(Self.question).constraints", to: constraints)
        if let suggestion { definition = definition.setting("\(Self.question).default", to: suggestion) }
        let found = Self.problems(definition)
        #expect(found.contains("E08 \(Self.pointer)/\(member)"), "\(found)")
    }
}

extension JSONValue {
    /// This value with one member or element changed; `path` is names and indices with dots between them.
    func setting(_ path: String, to value: JSONValue) -> JSONValue {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        let inner = { (old: JSONValue?) in parts.count == 1 ? value : (old ?? [:]).setting(parts[1], to: value) }
        if case .array(var elements) = self, let index = Int(parts[0]) {
            elements[index] = inner(elements[index])
            return .array(elements)
        }
        var members = objectValue ?? [:]
        members[parts[0]] = inner(members[parts[0]])
        return .object(members)
    }
}
