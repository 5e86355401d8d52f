import Documents
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("what changed between two versions") struct DefinitionDifferenceTests {
    static let base: JSONValue = [
        "key": "a-b", "version": 1, "titleKey": "t", "locales": ["en", "sv"], "defaultLocale": "en",
        "strings": [
            "en": ["t": "Title", "s": "Section", "q": "Question?", "r": "Range?", "h": "Help", "o": "A", "p": "B"],
            "sv": ["t": "Titel", "s": "Del", "q": "Fråga?", "r": "Intervall?", "h": "Hjälp", "o": "A", "p": "B"],
        ],
        "dimensions": [["key": "d", "method": "weighted_mean"]],
        "sections": [
            [
                "key": "one", "titleKey": "s",
                "questions": [
                    [
                        "key": "choice", "type": "multi_choice", "textKey": "q", "helpKey": "h",
                        "constraints": ["min": 1, "max": 2],
                        "options": [
                            ["key": "a", "labelKey": "o", "score": ["d": 1]], ["key": "b", "labelKey": "p"],
                            ["key": "c", "labelKey": "o"],
                        ],
                    ],
                    [
                        "key": "range", "type": "slider", "textKey": "r", "required": true,
                        "constraints": ["min": 0, "max": 10, "step": 2],
                    ],
                ],
            ],
            [
                "key": "two",
                "questions": [
                    ["key": "words", "type": "text", "textKey": "q", "constraints": ["maxLength": 10]],
                    ["key": "flag", "type": "boolean", "textKey": "h"],
                ],
            ],
        ],
    ]

    static func changes(to new: JSONValue, from old: JSONValue = base) throws -> [DefinitionChange] {
        func file(_ json: JSONValue) throws(DefinitionError) -> DefinitionFile {
            try DefinitionParser.read(CanonicalJSON.bytes(of: json)).file
        }
        return DefinitionDifference(from: try file(old), to: try file(new)).changes
    }

    static let one = "sections.0.questions", two = "sections.1.questions"

    /// One edit of the base for each kind, the class that the rules give it, and where it is.
    static let edits: [(DefinitionChange.Kind, ChangeClass, String, [(String, JSONValue)])] = [
        (.questionText, .editorial, "/sections/0/questions/1/textKey", [("strings.en.r", "How far?")]),
        (.helpText, .editorial, "/sections/1/questions/1/helpKey", [("\(two).1.helpKey", "h")]),
        (.optionLabel, .editorial, "/sections/0/questions/0/options/1/labelKey", [("strings.en.p", "Bee")]),
        (.sectionTitle, .editorial, "/sections/0/titleKey", [("strings.en.s", "Part")]),
        (.presentation, .editorial, "/sections/0/questions/0", [("\(one).0.presentation", "select")]),
        (.questionOrder, .editorial, "/sections", [("\(two).0", question(two, 1)), ("\(two).1", question(two, 0))]),
        (.optionOrder, .editorial, "/sections/0/questions/0/options", [("\(one).0.options", options("bac"))]),
        (.stringChanged, .editorial, "/strings/sv/r", [("strings.sv.r", "Hur långt?")]),

        (
            .optionalQuestionAdded, .additive, "/sections/1/questions/2",
            [("\(two)", list(two, plus: ["key": "extra", "type": "boolean", "textKey": "q"]))]
        ),
        (.optionAdded, .additive, "/sections/0/questions/0/options/3", [("\(one).0.options", options("abcd"))]),
        (.maxSelectionsRaised, .additive, constraints, [("\(one).0.constraints", ["min": 1, "max": 3])]),
        (.rangeWidened, .additive, rangeConstraints, [("\(one).1.constraints.max", 12)]),
        (.textLengthRaised, .additive, "/sections/1/questions/0/constraints", [("\(two).0.constraints.maxLength", 11)]),
        (.requiredToOptional, .additive, "/sections/0/questions/1/required", [("\(one).1.required", false)]),
        (.skippableOn, .additive, "/sections/1/questions/1/skippable", [("\(two).1.skippable", true)]),
        (.declinableOn, .additive, "/sections/1/questions/1/declinable", [("\(two).1.declinable", true)]),
        (
            .localeAdded, .additive, "/strings/de",
            [("locales", ["en", "sv", "de"]), ("strings.de", base["strings"]?["sv"] ?? .null)]
        ),
        (
            .optionalSectionAdded, .additive, "/sections/2",
            [("sections", list("sections", plus: section(isRequired: false)))]
        ),

        (
            .scoringChanged, .rescore, "/sections/0/questions/0/options/0/score",
            [("\(one).0.options.0.score", ["d": 0.5])]
        ),

        (
            .requiredQuestionAdded, .reask, "/sections/2/questions/0",
            [("sections", list("sections", plus: section(isRequired: true)))]
        ),
        (.optionalToRequired, .reask, "/sections/1/questions/1/required", [("\(two).1.required", true)]),
        (.rangeNarrowed, .reask, rangeConstraints, [("\(one).1.constraints.max", 8)]),
        (.maxSelectionsLowered, .reask, constraints, [("\(one).0.constraints", ["min": 1, "max": 1])]),
        (
            .visibilityChanged, .reask, "/sections/1/questions/1/visibleIf",
            [("\(two).1.visibleIf", ["answered": "words"])]
        ),
        (
            .visibilityChanged, .reask, "/sections/1/questions/1/visibleIf",
            [("\(two).1.visibleIf", ["==": [["ctx": "platform"], "ios"]])]
        ),
        (.meaningRaised, .reask, "/sections/1/questions/1/meaningRev", [("\(two).1.meaningRev", 2)]),

        (.questionRemoved, .breaking, "/sections/1/questions/1", [("\(two)", [question(two, 0)])]),
        (.optionRemoved, .breaking, "/sections/0/questions/0/options/2", [("\(one).0.options", options("ab"))]),
        (.typeChanged, .breaking, "/sections/1/questions/1/type", [("\(two).1.type", "date")]),
        (.keyRenamed, .breaking, "/sections/1/questions/1/key", [("\(two).1.key", "banner")]),
    ]

    private static let constraints = "/sections/0/questions/0/constraints"
    private static let rangeConstraints = "/sections/0/questions/1/constraints"

    private static func at(_ path: String) -> JSONValue {
        path.split(separator: ".").reduce(base) { value, name in
            Int(name).flatMap { value.arrayValue?[$0] } ?? value[String(name)] ?? .null
        }
    }

    private static func question(_ path: String, _ index: Int) -> JSONValue { at("\(path).\(index)") }
    private static func list(_ path: String, plus element: JSONValue) -> JSONValue {
        .array((at(path).arrayValue ?? []) + [element])
    }

    private static func options(_ keys: String) -> JSONValue {
        let known = at("\(one).0.options").arrayValue ?? []
        return .array(
            keys.map { key in
                known.first { $0["key"] == .string(String(key)) } ?? ["key": .string(String(key)), "labelKey": "o"]
            })
    }

    private static func section(isRequired: Bool) -> JSONValue {
        [
            "key": "three",
            "questions": [["key": "new", "type": "boolean", "textKey": "q", "required": .bool(isRequired)]],
        ]
    }

    private static func edited(_ edits: [(String, JSONValue)]) -> JSONValue {
        edits.reduce(base) { $0.setting($1.0, to: $1.1) }
    }

    @Test("each kind is in its class", arguments: edits)
    func kind(
        kind: DefinitionChange.Kind, changeClass: ChangeClass, pointer: String, edits: [(String, JSONValue)]
    ) throws {
        let changes = try Self.changes(to: Self.edited(edits))
        #expect(changes.map(\.kind) == [kind] && changes.map(\.changeClass) == [changeClass], "\(changes)")
        #expect(changes.map(\.pointer) == [pointer])
    }

    /// The thirtieth, of a base whose minimum can be lowered.
    @Test func fewerSelectionsMayBeAskedFor() throws {
        let two = Self.base.setting("\(Self.one).0.constraints", to: ["min": 2, "max": 2])
        let one = Self.base.setting("\(Self.one).0.constraints", to: ["min": 1, "max": 2])
        #expect(try Self.changes(to: one, from: two).map(\.kind) == [.minSelectionsLowered])
        #expect(try Self.changes(to: two, from: one).map(\.kind) == [.rangeNarrowed])
        let kinds = Set(Self.edits.map(\.0)).union([.minSelectionsLowered, .unlisted])
        #expect(difference(between: kinds.map(\.rawValue), and: DefinitionChange.Kind.allCases.map(\.rawValue)) == [])
        #expect(kinds.count == 31, "thirty, and what is not listed")
    }

    @Test func equalDefinitionsHaveNoChanges() throws {
        #expect(try Self.changes(to: Self.base.setting("version", to: 2)).isEmpty)
    }

    @Test(
        "only a fitting migration turns breaking into reask",
        arguments: [
            ("\(two).1.key", "banner", ["rename": ["old": "flag", "new": "banner"]], .keyRenamed, .reask),
            ("\(two).1.key", "banner", ["rename": ["old": "flag", "new": "other"]], .keyRenamed, .breaking),
            ("\(two)", [question(two, 0)], ["drop": ["question": "flag"]], .questionRemoved, .reask),
            ("\(two)", [question(two, 0)], ["drop": ["question": "words"]], .questionRemoved, .breaking),
            (
                "\(one).0.options", options("ab"), ["options": ["question": "choice", "map": ["c": "a"]]],
                .optionRemoved, .reask
            ),
            (
                "\(one).0.options", options("ab"), ["options": ["question": "choice", "map": ["c": "gone"]]],
                .optionRemoved, .breaking
            ),
            (
                "\(one).1.type", "number", ["convert": ["question": "range", "rule": "slider_to_number"]],
                .typeChanged, .reask
            ),
            ("\(two).1.type", "date", ["convert": ["question": "flag", "rule": "magic"]], .typeChanged, .breaking),
        ] as [(String, JSONValue, JSONValue, DefinitionChange.Kind, ChangeClass)])
    func mapped(
        path: String, value: JSONValue, migration: JSONValue, kind: DefinitionChange.Kind, changeClass: ChangeClass
    ) throws {
        let new = Self.base.setting(path, to: value).setting("migrations", to: [migration])
        let changes = try Self.changes(to: new)
        #expect(changes.map(\.kind) == [kind] && changes.map(\.changeClass) == [changeClass])
    }

    @Test(
        "a range is narrowed exactly if it loses a valid answer",
        arguments: [
            (0, 10, 1, [.rangeWidened]), (0, 10, 5, [.rangeNarrowed]), (0, 9, 3, [.rangeNarrowed]),
            (-2, 10, 2, [.rangeWidened]), (-1, 11, 2, [.rangeWidened, .rangeNarrowed]),
            (2, 12, 2, [.rangeWidened, .rangeNarrowed]),
            (0, 10, 2, []),
        ] as [(Int64, Int64, Int64, [DefinitionChange.Kind])])
    func grids(min: Int64, max: Int64, step: Int64, kinds: [DefinitionChange.Kind]) throws {
        let limits: JSONValue = ["min": .integer(min), "max": .integer(max), "step": .integer(step)]
        let changes = try Self.changes(to: Self.base.setting("\(Self.one).1.constraints", to: limits))
        #expect(changes.map(\.kind) == kinds)
        // Against the grids themselves.
        let (old, new) = (
            Set(stride(from: Int64(0), through: 10, by: 2)), Set(stride(from: min, through: max, by: Int(step)))
        )
        #expect(kinds.contains(.rangeNarrowed) == !old.isSubset(of: new))
    }

    @Test func theClassIsThatOfTheGravestChange() throws {
        let new = Self.edited([("strings.en.r", "How far?"), ("\(Self.two).1.required", true)])
        let file = { (json: JSONValue) throws -> DefinitionFile in
            try DefinitionParser.read(CanonicalJSON.bytes(of: json)).file
        }
        #expect(DefinitionDifference(from: try file(Self.base), to: try file(new)).changeClass == .reask)
        #expect(DefinitionDifference(from: try file(Self.base), to: try file(Self.base)).changeClass == nil)
    }
}

@Suite("keys that were given up") struct RetiredKeysTests {
    static func version(_ questions: [String: [String]]) throws -> DefinitionFile {
        let all = questions.sorted { $0.key < $1.key }.map {
            Sample.question($0.key, "multi_choice", options: $0.value)
        }
        return try DefinitionParser.read(CanonicalJSON.bytes(of: Sample.definition(all))).file
    }

    @Test func retiredKeysAreNotUsedAgain() throws {
        let earlier = [
            try Self.version(["a": ["x", "y"], "b": ["x"]]), try Self.version(["a": ["x"]]),
            try Self.version(["a": ["x", "z"], "c": ["x"]]),
        ]
        func found(_ questions: [String: [String]], after versions: [DefinitionFile]) throws -> [String] {
            RetiredKeys(versions).problems(in: try Self.version(questions)).map { "\($0.code) \($0.pointer)" }
        }
        #expect(try found(["a": ["x", "z"], "c": ["x"], "d": ["y"]], after: earlier) == [])
        #expect(try found(["a": ["x"], "b": ["x"]], after: earlier) == ["E14 /sections/0/questions/1/key"])
        #expect(try found(["a": ["x", "y"]], after: earlier) == ["E14 /sections/0/questions/0/options/1/key"])
        #expect(try found(["a": ["y"], "b": ["q"]], after: []) == [])
    }
}
