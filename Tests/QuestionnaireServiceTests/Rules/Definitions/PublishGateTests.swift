import BusProtocol
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("the publish gate") struct PublishGateTests {
    static func report(_ json: JSONValue) throws -> GateReport {
        PublishGate.check(try DefinitionParserTests.parse(json), today: testDay, declared: nil)
    }

    static func found(_ json: JSONValue) throws -> [String] {
        let report = try report(json)
        return (report.problems + report.warnings).map { "\($0.code) \($0.pointer)" }
    }

    static let sex = Sample.question("sex", "single_choice", ["required": true])
    static let second = "/sections/0/questions/1"

    static func isA(_ key: String) -> JSONValue { ["==": [["var": "sex"], .string(key)]] }
    static let isAAndB: JSONValue = ["and": [isA("a"), isA("b")]]

    @Test func theShippedDefinitionPasses() throws {
        let definition = try DefinitionParser.parse(EmbeddedFiles.Definitions.yoked_compat.bytes)
        #expect(PublishGate.check(definition, today: testDay, declared: nil) == GateReport(shortest: 25, longest: 25))
    }

    @Test(
        "each verdict about a question behind another",
        arguments: [
            ("boolean", ["visibleIf": isA("a")], []),
            ("boolean", ["visibleIf": isAAndB], ["E06 \(second)/visibleIf", "W2 \(second)"]),
            ("boolean", ["visibleIf": isAAndB, "required": true], ["E06 \(second)/visibleIf", "E07 \(second)"]),
            ("boolean", ["requiredIf": isAAndB], ["E06 \(second)/requiredIf", "W2 \(second)/requiredIf"]),
            (
                "boolean", ["visibleIf": isA("a"), "requiredIf": isA("b")], ["W2 \(second)/requiredIf"]
            ),
            ("boolean", ["visibleIf": ["answered": "sex"]], ["W1 \(second)/visibleIf"]),
            ("boolean", ["visibleIf": true], ["W1 \(second)/visibleIf"]),
            (
                "single_choice", ["options": [["key": "x", "labelKey": "o", "visibleIf": isA("a")]]],
                ["E10 \(second)/options"]
            ),
            (
                "single_choice",
                ["required": true, "options": [["key": "x", "labelKey": "o", "visibleIf": isA("a")]]],
                ["E10 \(second)/options", "E09 \(second)"]
            ),
            (
                "single_choice",
                [
                    "visibleIf": isA("a"), "required": true,
                    "options": [
                        ["key": "x", "labelKey": "o", "visibleIf": isA("a")],
                        ["key": "y", "labelKey": "o", "visibleIf": isA("b")],
                    ],
                ], ["W2 \(second)/options/1"]
            ),
            (
                "multi_choice",
                [
                    "required": true, "constraints": ["min": 2],
                    "options": [
                        ["key": "x", "labelKey": "o"], ["key": "y", "labelKey": "q", "visibleIf": isA("a")],
                    ],
                ], ["E09 \(second)"]
            ),
            (
                "ranking",
                [
                    "required": true, "constraints": ["topK": 2],
                    "options": [
                        ["key": "x", "labelKey": "o"], ["key": "y", "labelKey": "q", "visibleIf": isA("a")],
                    ],
                ], ["E09 \(second)"]
            ),
            ("date", ["required": true, "constraints": ["earliest": "2020-01-01", "minAge": 18]], ["E09 \(second)"]),
            ("date", ["required": true, "constraints": ["earliest": "2008-03-01", "minAge": 18]], []),
            ("date", ["required": true, "constraints": ["earliest": "2008-03-02", "minAge": 18]], ["E09 \(second)"]),
        ] as [(String, JSONValue, [String])])
    func verdict(type: String, members: JSONValue, expected: [String]) throws {
        let json = Sample.definition([Self.sex, Sample.question("second", type, members)])
        #expect(try Self.found(json) == expected)
    }

    /// Bounds, exclusive options and ages are taken into account, not only what the words say.
    @Test(
        "conditions that the first question's own rules make impossible",
        arguments: [
            ("slider", [:], [">": [["var": "first"], 4]], true),
            ("slider", [:], [">": [["var": "first"], 3.5]], false),
            (
                "slider", [:], ["and": [[">": [["var": "first"], 1]], ["<": [["var": "first"], 2]]]], true
            ),
            ("number", [:], ["and": [[">": [["var": "first"], 1]], ["<": [["var": "first"], 2]]]], false),
            (
                "number", [:], ["and": [[">": [["var": "first"], 1]], ["<": [["var": "first"], 1.001]]]], true
            ),
            ("height", [:], [">": [["var": "first"], 95]], true),
            ("height", [:], ["==": [["var": "first"], 95]], false),
            (
                "multi_choice", ["constraints": ["max": 1]],
                [
                    "and": [
                        ["any_in": [["var": "first"], ["a"]]], ["any_in": [["var": "first"], ["b"]]],
                    ]
                ], true
            ),
            (
                "multi_choice", ["constraints": ["max": 2]],
                [
                    "and": [
                        ["any_in": [["var": "first"], ["a"]]], ["any_in": [["var": "first"], ["b"]]],
                    ]
                ], false
            ),
            ("multi_choice", ["constraints": ["min": 2]], ["==": [["count": ["var": "first"]], 1]], true),
            // Neither the fewest nor the most that can be chosen.
            (
                "multi_choice", [:],
                [
                    "and": [
                        ["any_in": [["var": "first"], ["a"]]], ["any_in": [["var": "first"], ["c"]]],
                        ["all_in": [["var": "first"], ["a", "c"]]],
                    ]
                ], false
            ),
            (
                "multi_choice", ["constraints": ["other": ["maxCount": 1, "maxLength": 9]]],
                ["==": [["count": ["var": "first"]], 4]], false
            ),
            ("ranking", [:], ["<": [["count": ["var": "first"]], 3]], true),
            ("date", ["constraints": ["minAge": 18]], ["<": [["age_years": "first"], 18]], true),
            ("date", ["constraints": ["minAge": 18]], ["<": [["age_years": "first"], 19]], false),
            ("date", ["constraints": ["latest": "2007-01-01"]], ["<": [["age_years": "first"], 19]], true),
            ("text", ["constraints": ["maxLength": 2]], ["==": [["var": "first"], "abc"]], true),
            ("text", ["constraints": ["pattern": "digits"]], ["==": [["var": "first"], "1a"]], true),
            ("text", [:], ["!=": [["var": "first"], "abc"]], false),
            ("boolean", [:], ["==": [["state": "first"], "skipped"]], true),
            ("boolean", ["skippable": true], ["==": [["state": "first"], "skipped"]], false),
            ("boolean", [:], ["==": [["state": "first"], "hidden"]], true),
            ("info", [:], ["answered": "first"], true),
        ] as [(String, JSONValue, JSONValue, Bool)])
    func impossible(type: String, members: JSONValue, condition: JSONValue, isImpossible: Bool) throws {
        let questions = [
            Sample.question("first", type, members), Sample.question("last", "boolean", ["visibleIf": condition]),
        ]
        let found = try Self.found(Sample.definition(questions))
        #expect(found == (isImpossible ? ["E06 \(Self.second)/visibleIf", "W2 \(Self.second)"] : []))
    }

    @Test func sectionsAreJudgedWithTheirQuestions() throws {
        let inner = Sample.question("inner", "boolean", ["required": true, "visibleIf": Self.isA("b")])
        let crossed = Sample.definition(sections: [
            Sample.section("one", [Self.sex]), Sample.section("two", [inner], visibleIf: Self.isA("a")),
        ])
        #expect(try Self.found(crossed) == ["E07 /sections/1/questions/0"])
        let never = Sample.definition(sections: [
            Sample.section("one", [Self.sex]),
            Sample.section("two", [Sample.question("inner", "boolean")], visibleIf: Self.isAAndB),
        ])
        #expect(try Self.found(never) == ["E06 /sections/1/visibleIf"])
    }

    @Test func problemsNameTheKeysInvolved() throws {
        let json = Sample.definition([
            Self.sex, Sample.question("second", "boolean", ["required": true, "visibleIf": Self.isAAndB]),
        ])
        #expect(try Self.report(json).problems.map(\.keys) == [["sex"], ["second", "sex"]])
    }

    @Test func dimensionsAreCountedAlongThePaths() throws {
        let score: JSONValue = ["score": ["d": 1]]
        let questions = [
            Self.sex, Sample.question("x", "slider", score),
            Sample.question("y", "slider", ["score": ["d": 1], "visibleIf": Self.isA("a")]),
        ]
        func found(_ minAnswered: JSONValue) throws -> [String] {
            let dimension: JSONValue = ["key": "d", "method": "weighted_mean", "minAnswered": minAnswered]
            return try Self.found(
                Sample.definition(sections: [Sample.section("s", questions)], dimensions: [dimension]))
        }
        #expect(try found(1) == [] && found(2) == ["E13 /dimensions/0"])
    }

    /// Twelve questions with four ways each are looked at together: the gate says that it does not know.
    @Test func tooManyCombinationsAreReportedAsUndecided() throws {
        let sources = (0..<12).map { Sample.question("q\($0)", "single_choice") }
        let all = JSONValue.array((0..<12).map { ["==": [["var": .string("q\($0)")], "a"]] })
        let json = Sample.definition(sources + [Sample.question("last", "boolean", ["visibleIf": ["and": all]])])
        let report = try Self.report(json)
        #expect(report.problems.isEmpty && report.warnings.map(\.code) == ["W4", "W4"])
        #expect(report.shortest == nil && report.longest == nil)
    }

    @Test func wrongDeclaredNumbersCauseAWarning() throws {
        let definition = try DefinitionParserTests.parse(Sample.definition([Self.sex]))
        func codes(_ total: Int, _ required: Int) -> [String] {
            let declared = PublishGate.Declared(total: total, required: required)
            return PublishGate.check(definition, today: testDay, declared: declared).warnings.map(\.code)
        }
        #expect(codes(1, 1) == [] && codes(2, 1) == ["W3"] && codes(1, 0) == ["W3"])
    }

    // MARK: Against all walks

    /// Definitions by chance, their verdicts against every way of going through them.
    @Test(arguments: 0..<Rounds.count(60, prove: 2000))
    func everyWalk(seed: Int) throws {
        let json = Self.randomDefinition(seed: UInt64(seed))
        let report = try Self.report(json)
        let walks = AllWalks(definition: json)
        let expected = walks.verdicts
        let got = Set((report.problems + report.warnings).map { "\($0.code) \($0.pointer)" })
        #expect(got == expected, "\(String(decoding: CanonicalJSON.bytes(of: json), as: UTF8.self))")
        #expect(report.shortest == walks.lengths.min() && report.longest == walks.lengths.max())
    }

    /// The same with facts and a section about each child. Later conditions look at that section.
    @Test(arguments: 0..<Rounds.count(60, prove: 2000))
    func everyWalkOfEveryFamily(seed: Int) throws {
        let (json, facts) = Self.randomFamily(seed: UInt64(seed))
        let report = try Self.report(json)
        let walks = AllWalks(definition: json, facts: facts)
        let got = Set((report.problems + report.warnings).map { "\($0.code) \($0.pointer)" })
        #expect(got == walks.verdicts, "\(String(decoding: CanonicalJSON.bytes(of: json), as: UTF8.self))")
        #expect(report.shortest == walks.lengths.min() && report.longest == walks.lengths.max())
    }

    private static func randomFamily(seed: UInt64) -> (json: JSONValue, facts: [String]) {
        var conditions = RandomConditions(generator: SeededGenerator(state: seed &* 6007))
        func chance(_ odds: Int) -> Bool { Int.random(in: 0..<odds, using: &conditions.generator) == 0 }
        func members() -> [String: JSONValue] {
            let isRequired = chance(2)
            return [
                "required": .bool(isRequired), "skippable": .bool(!isRequired && chance(3)),
                "declinable": .bool(chance(3)),
            ]
        }
        conditions.facts = [["locale"], ["platform"], ["profile.country"], []]
            .randomElement(using: &conditions.generator)!
        let types = ["single_choice", "boolean", "slider"].shuffled(using: &conditions.generator)
        let parent = Sample.question("q0", types[0], .object(members()))
        var all = members()
        if chance(2) { all["visibleIf"] = conditions.condition(over: [parent]) }
        var children = [Sample.question("k0", chance(3) ? types[1] : "boolean", .object(all))]
        if chance(4) {
            children.append(
                Sample.question("k1", "boolean", ["visibleIf": conditions.condition(over: [parent] + children)]))
        }
        let childrenIf: JSONValue = chance(3) ? conditions.condition(over: [parent]) : .null
        let most: Int64 = children.count == 1 && chance(3) ? 3 : 2
        let least = Int64.random(in: 0...most, using: &conditions.generator)
        (conditions.children, conditions.parents) = (children, [parent])
        all = members()
        all["visibleIf"] = conditions.condition(over: [parent])
        if all["required"] == false { all["requiredIf"] = conditions.condition(over: [parent]) }
        all["options"] = .array(
            ["a", "b"].map {
                ["key": .string($0), "labelKey": "o", "visibleIf": conditions.condition(over: [parent])]
            })
        let last = Sample.section(
            "two", [Sample.question("q1", "single_choice", .object(all))],
            visibleIf: chance(2) ? conditions.condition(over: [parent]) : .null)
        let sections = [
            Sample.section("one", [parent]),
            Sample.children(least...most, children, visibleIf: childrenIf), last,
        ]
        return (Sample.definition(sections: sections, locales: ["en", "sv"]), conditions.facts)
    }

    static let toy: JSONValue = ["var": "toy"]

    @Test(
        "verdicts hold after a section about two to four children",
        arguments: [
            ([">": [["subjects": ["count": "child"]], 4]], ["E06"]),
            (["<": [["subjects": ["count": "child"]], 5]], ["W1"]),
            ([">=": [["subjects": ["count": "child"]], 2]], ["W1"]),
            ([">": [["subjects": ["count": "child"]], 2]], []),
            // Nobody may be added yet, and then nothing can be completed.
            (["<": [["subjects": ["count": "child"]], 1]], []),
            (["==": [["subjects": ["count": "child"]], 2.5]], ["E06"]),
            (["subjects": ["any": ["child", toy]]], []),
            (["subjects": ["all": ["child", ["answered": "toy"]]]], ["W1"]),
            (["and": [["subjects": ["any": ["child", toy]]], ["subjects": ["any": ["child", ["not": toy]]]]]], []),
            (
                ["and": [["subjects": ["all": ["child", toy]]], ["subjects": ["any": ["child", ["not": toy]]]]]],
                ["E06"]
            ),
            (
                [
                    "and": [
                        ["subjects": ["any": ["child", toy]]], ["subjects": ["any": ["child", ["not": toy]]]],
                        ["==": [["subjects": ["count": "child"]], 1]],
                    ]
                ], ["E06"]
            ),
            (
                [
                    "and": [
                        ["subjects": ["all": ["child", toy]]], ["subjects": ["all": ["child", ["not": toy]]]],
                        [">": [["subjects": ["count": "child"]], 0]],
                    ]
                ], ["E06"]
            ),
            (["subjects": ["any": ["child", ["and": [toy, ["not": toy]]]]]], ["E06"]),
            (["in": [["ctx": "platform"], ["ios", "android", "web"]]], []),
            (["and": [["==": [["ctx": "platform"], "ios"]], ["==": [["ctx": "platform"], "web"]]]], ["E06"]),
            // Not known, it is neither.
            (["or": [["==": [["ctx": "locale"], "en"]], ["!=": [["ctx": "locale"], "en"]]]], []),
            (["!=": [["ctx": "profile.country"], "SE"]], []),
            (
                [
                    "not": [
                        "or": [
                            ["==": [["ctx": "platform"], "ios"]], ["==": [["ctx": "platform"], "android"]],
                            ["==": [["ctx": "platform"], "web"]],
                        ]
                    ]
                ], ["E06"]
            ),
        ] as [(JSONValue, [String])])
    func behindChildren(condition: JSONValue, expected: [String]) throws {
        let json = Sample.definition(sections: [
            Sample.children(2...4, [Sample.question("toy", "boolean", ["required": true])]),
            Sample.section("after", [Sample.question("rest", "boolean", ["visibleIf": condition])]),
        ])
        let pointer = "/sections/1/questions/0"
        let told = expected.map { "\($0) \(pointer)/visibleIf" } + (expected == ["E06"] ? ["W2 \(pointer)"] : [])
        #expect(try Self.found(json) == told)
    }

    /// What decided about one child decided about the other.
    @Test func childrenHaveTheSameParentsAndTheSameFacts() throws {
        func found(_ one: JSONValue, _ other: JSONValue) throws -> [String] {
            let both: JSONValue = [
                "and": [["subjects": ["any": ["child", one]]], ["subjects": ["any": ["child", other]]]]
            ]
            return try Self.found(
                Sample.definition(sections: [
                    Sample.section("parents", [Sample.question("has", "boolean", ["required": true])]),
                    Sample.children(
                        0...4,
                        [
                            Sample.question("toy", "boolean", ["visibleIf": ["var": "has"]]),
                            Sample.question("ball", "boolean"),
                        ]),
                    Sample.section("after", [Sample.question("rest", "boolean", ["visibleIf": both])]),
                ]))
        }
        let pointer = "/sections/2/questions/0"
        let never = ["E06 \(pointer)/visibleIf", "W2 \(pointer)"]
        let isHidden: JSONValue = ["==": [["state": "toy"], "hidden"]]
        #expect(try found(["answered": "toy"], isHidden) == never)
        #expect(try found(["answered": "toy"], ["not": ["answered": "toy"]]) == [])
        #expect(try found(["==": [["ctx": "platform"], "ios"]], ["==": [["ctx": "platform"], "web"]]) == never)
        #expect(try found(["==": [["ctx": "platform"], "ios"]], ["var": "ball"]) == [])
    }

    @Test func problemsNameFactsAndSectionsToo() throws {
        let both: JSONValue = [
            "and": [
                [">": [["subjects": ["count": "child"]], 9]], ["==": [["ctx": "platform"], "ios"]],
            ]
        ]
        let json = Sample.definition(sections: [
            Sample.children(0...4, [Sample.question("toy", "boolean")]),
            Sample.section("after", [Sample.question("rest", "boolean", ["visibleIf": both])]),
        ])
        #expect(try Self.report(json).problems.map(\.keys) == [["platform", "children"]])
    }

    /// Each of a hundred children has four hundred ways that something behind tells apart.
    @Test func tooManyCombinationsOfSubjectsAreUndecided() throws {
        let keys = (0..<4).map { "q\($0)" }
        let inner = keys.map { Sample.question($0, "single_choice", options: ["a", "b", "c", "d"]) }
        let all = keys.flatMap { key in
            ["a", "b", "c", "d"].map { option -> JSONValue in
                ["subjects": ["any": ["child", ["==": [["var": .string(key)], .string(option)]]]]]
            }
        }
        let after = all.enumerated().map { Sample.question("r\($0)", "boolean", ["visibleIf": $1]) }
        let whole = Sample.question("last", "boolean", ["visibleIf": ["and": .array(Array(all.prefix(9)))]])
        let json = Sample.definition(sections: [
            Sample.children(0...100, inner), Sample.section("after", after + [whole]),
        ])
        let report = try Self.report(json)
        #expect(report.problems.isEmpty && Set(report.warnings.map(\.code)) == ["W4"])
        #expect(report.shortest == nil)
    }

    /// Two questions without conditions, and three after them with every kind of condition.
    private static func randomDefinition(seed: UInt64) -> JSONValue {
        var generator = SeededGenerator(state: seed)
        let types = ["single_choice", "boolean", "multi_choice", "slider"].shuffled(using: &generator)
        func members() -> [String: JSONValue] {
            let isRequired = Bool.random(using: &generator)
            return [
                "required": .bool(isRequired), "skippable": .bool(!isRequired && Bool.random(using: &generator)),
                "declinable": .bool(Bool.random(using: &generator)),
            ]
        }
        var questions = (0..<2).map { Sample.question("q\($0)", types[$0], .object(members())) }
        var conditions = RandomConditions(generator: SeededGenerator(state: seed &* 7919))
        var all = members()
        all["visibleIf"] = conditions.condition(over: questions)
        questions.append(Sample.question("q2", "boolean", .object(all)))
        all = members()
        all["visibleIf"] = conditions.condition(over: questions)
        if all["required"] == false { all["requiredIf"] = conditions.condition(over: questions) }
        all["options"] = .array(
            ["a", "b"].map {
                ["key": .string($0), "labelKey": "o", "visibleIf": conditions.condition(over: questions)]
            })
        let sectionIf = conditions.condition(over: questions)
        let last = Sample.question("q3", "single_choice", .object(all))
        return Sample.definition(sections: [
            Sample.section("one", questions), Sample.section("two", [last], visibleIf: sectionIf),
        ])
    }
}

@Suite("the time that the gate takes") struct PublishGateTimeTests {
    /// Ten sections of twenty questions. Every other section depends on one of the first questions. Every other
    /// question depends on the one before it, and every fifth on two.
    static var large: JSONValue {
        let sections = (0..<10).map { section -> JSONValue in
            let questions = (0..<20).map { index -> JSONValue in
                let key = "s\(section)q\(index)"
                let types = ["single_choice", "boolean", "slider", "multi_choice", "single_choice"]
                var members: [String: JSONValue] = ["required": .bool(index % 3 == 0)]
                let before = { (back: Int) in "s\(section)q\(index - back)" }
                if index % 2 == 1 { members["visibleIf"] = ["answered": .string(before(1))] }
                if index % 5 == 4 {
                    members["visibleIf"] = [
                        "or": [
                            ["any_in": [["var": .string(before(1))], ["a", "b"]]],
                            [">": [["var": .string(before(2))], 2]],
                        ]
                    ]
                }
                return Sample.question(key, types[index % 5], options: ["a", "b", "c", "d", "e"], .object(members))
            }
            let isA: JSONValue = ["!=": [["var": "s0q0"], "a"]]
            return Sample.section("s\(section)", questions, visibleIf: section % 2 == 1 ? isA : .null)
        }
        return Sample.definition(sections: sections)
    }

    /// Two hundred questions of which each depends on the two before it.
    static var chain: JSONValue {
        let questions = (0..<200).map { index -> JSONValue in
            let before = { (back: Int) in JSONValue.string("q\(index - back)") }
            let condition: JSONValue =
                index < 2
                ? .null : ["or": [["==": [["var": before(1)], "a"]], ["in": [["var": before(2)], ["b", "c"]]]]]
            return Sample.question(
                "q\(index)", "single_choice", options: ["a", "b", "c", "d", "e"], ["visibleIf": condition])
        }
        return Sample.definition(questions)
    }

    @Test("two hundred questions within half a second", .timed, arguments: ["large", "chain"])
    func time(name: String) throws {
        let bytes = CanonicalJSON.bytes(of: name == "large" ? Self.large : Self.chain)
        var report = GateReport()
        let time = try ContinuousClock().measure {
            report = PublishGate.check(try DefinitionParser.parse(bytes), today: testDay, declared: nil)
        }
        #expect(report.problems.isEmpty && report.longest == 200, "\(report)")
        #expect(time < .milliseconds(500), .time("\(time)"))
        print("the gate took \(time)")
    }
}
