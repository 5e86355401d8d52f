import BusProtocol
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("conditions") struct ConditionTests {
    /// What a question of each type may be answered with.
    static let values: [(type: String, values: [JSONValue])] = [
        ("single_choice", ["a", "b", "c"]), ("multi_choice", [["a"], ["b"], ["a", "c"], ["a", "b", "c"]]),
        ("slider", [0, 2, 3]), ("boolean", [true, false]), ("date", ["2000-01-01", "2010-03-02"]),
        ("text", ["x", "z"]), ("ranking", [["c", "a", "b"]]), ("tags", [["b"], ["a", "b"]]),
    ]

    /// Every assignment of answers to definitions with conditions by chance, against the naive evaluator.
    @Test(arguments: 0..<Rounds.count(8, prove: 24))
    func everyAssignment(seed: Int) throws {
        var generator = SeededGenerator(state: UInt64(seed))
        let chosen = (0..<3).map { _ in Self.values.randomElement(using: &generator) ?? Self.values[0] }
        var questions = chosen.enumerated().map { Sample.question("q\($0)", $1.type) }
        var conditions = RandomConditions(generator: generator)
        let inner = Sample.question("inner", "boolean", ["visibleIf": conditions.condition(over: questions)])
        questions.append(inner)
        let child = Sample.question("child", "slider")
        let toy = Sample.question(
            "toy", "boolean", ["visibleIf": conditions.condition(over: questions + [child])])
        let children = Sample.children(0...5, [child, toy], visibleIf: conditions.condition(over: questions))
        conditions.facts = RandomConditions.values.keys.sorted()
        (conditions.children, conditions.parents) = ([child, toy], questions)
        let sectionIf = conditions.condition(over: questions)
        let option: JSONValue = ["key": "d", "labelKey": "o", "visibleIf": conditions.condition(over: questions)]
        let last = Sample.question(
            "last", "single_choice",
            [
                "visibleIf": conditions.condition(over: questions), "requiredIf": conditions.condition(over: questions),
                "options": [["key": "a", "labelKey": "o"], option],
            ])
        let json = Sample.definition(
            sections: [
                Sample.section("one", questions), children, Sample.section("two", [last], visibleIf: sectionIf),
            ], locales: ["en", "sv"])
        let definition = try DefinitionParserTests.parse(json)
        let domains = chosen.map(\.values) + [[true, false]]
        var assignment = Array(repeating: 0, count: domains.count)
        var differences = 0
        repeat {
            let answers = Self.answers(assignment, domains)
            let (subjects, theirs) = Self.children(&generator)
            let facts = RandomConditions.values.compactMapValues { $0.randomElement(using: &generator) }
                .filter { _ in Int.random(in: 0..<4, using: &generator) > 0 }
            let naive = NaiveQuestionnaire(definition: json, answers: answers, facts: facts, children: theirs)
            let places = zip(subjects, theirs).flatMap { subject, answers in
                answers.map { (AnswerPlace($0.key, of: subject.id).key, $0.value) }
            }
            let sheet = AnswerSheet(
                definition: definition,
                answers: answers.merging(places) { $1 }
                    .mapValues { answer(AnswerState(rawValue: $0.state), $0.value) },
                subjects: subjects, facts: facts, today: testDay)
            let (isVisible, isInnerVisible) = (naive.isVisible("last"), naive.isVisible("inner"))
            let seen = sheet.items[sheet.items.count - 1]
            let toys = zip(subjects, theirs).allSatisfy { subject, theirs in
                !sheet.hidden.contains(AnswerPlace("toy", of: subject.id).key)
                    == NaiveQuestionnaire(definition: json, answers: answers.merging(theirs) { $1 }).isVisible("toy")
            }
            let agrees =
                toys && !sheet.hidden.contains("inner") == isInnerVisible && !sheet.hidden.contains("last") == isVisible
                && (!isVisible
                    || seen.required == naive.isRequired(last)
                        && seen.options.map(\.key) == naive.options(of: last))
            if !agrees { differences += 1 }
        } while Self.advance(&assignment, domains)
        #expect(differences == 0, "\(String(decoding: CanonicalJSON.bytes(of: json), as: UTF8.self))")
    }

    /// Up to three, and what is said about each.
    private static func children(
        _ generator: inout SeededGenerator
    ) -> (subjects: [Subject], answers: [[String: NaiveQuestionnaire.Answer]]) {
        let count = Int.random(in: 0...3, using: &generator)
        let subjects = (0..<count).map { Subject(id: .ordered(), kind: "child", position: Int64($0) + 1) }
        let answers = subjects.map { _ in
            var theirs: [String: NaiveQuestionnaire.Answer] = [:]
            for (key, values) in [("child", [0, 1, 3] as [JSONValue]), ("toy", [true, false])] {
                let state = (["answered", "answered"] + empty).randomElement(using: &generator)!
                guard state != "unanswered" else { continue }
                theirs[key] = .init(
                    state: state, value: state == "answered" ? values.randomElement(using: &generator) : nil)
            }
            return theirs
        }
        return (subjects, answers)
    }

    private static let empty = ["unanswered", "skipped", "declined", "acknowledged"]

    private static func answers(_ assignment: [Int], _ domains: [[JSONValue]]) -> [String: NaiveQuestionnaire.Answer] {
        var answers: [String: NaiveQuestionnaire.Answer] = [:]
        for (index, choice) in assignment.enumerated() where choice > 0 {
            let key = index < 3 ? "q\(index)" : "inner"
            answers[key] =
                choice < empty.count
                ? .init(state: empty[choice]) : .init(state: "answered", value: domains[index][choice - empty.count])
        }
        return answers
    }

    /// The next one, like an odometer; `false` after the last.
    private static func advance(_ assignment: inout [Int], _ domains: [[JSONValue]]) -> Bool {
        for index in assignment.indices {
            assignment[index] += 1
            if assignment[index] < empty.count + domains[index].count { return true }
            assignment[index] = 0
        }
        return false
    }

    // MARK: What is refused

    static let earlier = [
        Sample.question("sex", "single_choice"), Sample.question("pets", "multi_choice"),
        Sample.question("born", "date"), Sample.question("size", "slider"), Sample.question("name", "text"),
        Sample.question("smokes", "boolean"), Sample.question("note", "info"),
    ]

    static func problems(_ condition: JSONValue) -> [DefinitionProblem] {
        let last = Sample.question("last", "boolean", ["visibleIf": condition])
        do throws(DefinitionError) {
            _ = try DefinitionParserTests.parse(
                Sample.definition(earlier + [last, Sample.question("later", "boolean")]))
            return []
        } catch {
            return error.problems
        }
    }

    @Test(
        "invalid conditions are refused and no type is converted",
        arguments: [
            (["==": [["var": "nobody"], 1]], "E02 /==/0/var"), (["answered": "nobody"], "E02 /answered"),
            (["==": [["var": "sex"], "d"]], "E03 /==/1"), (["in": [["var": "sex"], ["a", "d"]]], "E03 /in/1/1"),
            (["any_in": [["var": "pets"], ["d"]]], "E03 /any_in/1/0"),
            (["var": "later"], "E04 /var"), (["var": "last"], "E04 /var"),
            (["==": [["var": "size"], "1"]], "E05 /==/1"), (["==": [["var": "size"], true]], "E05 /==/1"),
            (["==": [["var": "size"], 0.0001]], "E05 /==/1"), (["==": [["var": "sex"], 1]], "E05 /==/1"),
            (["==": [["var": "smokes"], "true"]], "E05 /==/1"), (["<": [["var": "born"], "today"]], "E05 /</1"),
            (["<": [["var": "born"], 2000]], "E05 /</1"), (["<": [["var": "name"], "x"]], "E05 /<"),
            (["<": [["var": "sex"], "a"]], "E05 /<"), (["<": [["var": "smokes"], true]], "E05 /<"),
            (["==": [["var": "pets"], "a"]], "E05 /==/0/var"), (["==": [["var": "note"], "a"]], "E05 /==/0/var"),
            (["any_in": [["var": "sex"], ["a"]]], "E05 /any_in/0"),
            (["==": [["count": ["var": "sex"]], 1]], "E05 /==/0/count"),
            (["==": [["age_years": "size"], 1]], "E05 /==/0/age_years"),
            (["==": [["state": "sex"], "gone"]], "E05 /==/1"), (["==": [["var": "size"], ["var": "size"]]], "E05 /=="),
            (["==": [1, 1]], "E05 /=="), (["var": "size"], "E05 /var"), (["count": ["var": "pets"]], "E05 /count"),
            (["state": "sex"], "E05 /state"), (["==": [["answered": "sex"], true]], "E05 /==/0/answered"),
            ("yes", "malformed "), (1, "malformed "), ([:], "malformed "), ([["var": "smokes"]], "malformed "),
            (["var": "smokes", "not": true], "malformed "), (["xor": [true, false]], "malformed /xor"),
            (["and": []], "malformed /and"), (["not": []], "malformed /not"), (["==": [1]], "malformed /=="),
            (["in": [["var": "sex"], []]], "malformed /in"), (["in": ["a", ["a"]]], "malformed /in/0"),
            (["count": 1], "E05 /count"), (["var": 1], "malformed /var"),
            (["==": [["ctx": "locale"], "sv"]], "E03 /==/1"),
            (["in": [["ctx": "locale"], ["en", "de"]]], "E03 /in/1/1"),
            (["==": [["ctx": "platform"], "windows"]], "E03 /==/1"), (["==": [["ctx": "platform"], 1]], "E05 /==/1"),
            (["<": [["ctx": "locale"], "en"]], "E05 /<"), (["ctx": "locale"], "E05 /ctx"),
            (["==": [["ctx": "profile.zodiac"], true]], "E05 /==/1"),
            (["==": [["ctx": 1], "en"]], "malformed /==/0/ctx"),
            (["==": [["ctx": "weather"], "en"]], "E02 /==/0/ctx"),
            (["==": [["ctx": "profile"], "x"]], "E02 /==/0/ctx"),
            (["==": [["ctx": "profile.dateOfBirth"], "x"]], "E02 /==/0/ctx"),
            (["==": [["ctx": "profile.religion"], "x"]], "E02 /==/0/ctx"),
            (["==": [["ctx": "profile.displayName"], "x"]], "E02 /==/0/ctx"),
            (["subjects": "child"], "malformed /subjects"),
            (["subjects": ["none": ["child", true]]], "malformed /subjects/none"),
            (["subjects": ["any": ["child", true]]], "E02 /subjects/any/0"),
            (["==": [["subjects": ["count": "child"]], 1]], "E02 /==/0/subjects/count"),
        ] as [(JSONValue, String)])
    func refused(condition: JSONValue, problem: String) {
        let found = Self.problems(condition)
        let pointer = "/sections/0/questions/7/visibleIf"
        #expect(found.map { "\($0.code) \($0.pointer.dropFirst(pointer.count))" } == [problem], "\(found)")
    }

    @Test func everyPartsProblemsAreNamed() {
        let found = Self.problems(["and": [["var": "x"], ["not": ["var": "y"]], ["or": [["var": "z"], true]]]])
        #expect(found.map(\.keys) == [["x"], ["y"], ["z"]] && found.allSatisfy { $0.code == "E02" })
    }

    /// Eight deep and sixty-four nodes are taken, one more of either is not.
    @Test func limitsAreHeld() {
        func nested(_ depth: Int) -> JSONValue { depth == 1 ? true : ["not": nested(depth - 1)] }
        func wide(_ nodes: Int) -> JSONValue { ["or": .array(Array(repeating: true, count: nodes - 1))] }
        #expect(Self.problems(nested(8)).isEmpty && Self.problems(wide(64)).isEmpty)
        for tooLarge in [nested(9), wide(65)] {
            #expect(Self.problems(tooLarge).map(\.pointer) == ["/sections/0/questions/7/visibleIf"])
        }
        let constants = JSONValue.array(Array(repeating: 1, count: 64))
        #expect(Self.problems(["in": [["var": "size"], constants]]).map(\.code) == ["malformed"], "constants count")
    }

    @Test func aCycleIsPrintedAsAWhole() throws {
        let questions = [
            Sample.question("a", "boolean", ["visibleIf": ["var": "c"]]),
            Sample.question("b", "boolean", ["visibleIf": ["var": "a"]]),
            Sample.question("c", "boolean", ["requiredIf": ["not": ["var": "b"]]]),
        ]
        let error = #expect(throws: DefinitionError.self) {
            try DefinitionParserTests.parse(Sample.definition(questions))
        }
        #expect(error?.problems.map(\.code) == ["E04"] && error?.problems.first?.keys == ["a", "c", "b", "a"])
        #expect(error?.problems.first?.message.hasSuffix("a → c → b → a") == true)
    }

    @Test func aSectionCannotLookIntoItself() throws {
        let json = Sample.definition([Sample.question("a", "boolean")], sectionIf: ["var": "a"])
        let error = #expect(throws: DefinitionError.self) { try DefinitionParserTests.parse(json) }
        #expect(error?.problems.first?.message.hasSuffix("section first → a → section first") == true)
    }

    /// What each child was asked has an answer for that child alone.
    @Test func aSectionThatRepeatsIsLookedAtFromInsideOnly() throws {
        let children: JSONValue = [
            "key": "children", "repeat": ["subject": "child", "min": 1, "max": 20, "label": "name"],
            "questions": [
                Sample.question("name", "text"),
                Sample.question("toys", "boolean", ["visibleIf": ["answered": "name"]]),
                Sample.question("walks", "boolean", ["visibleIf": ["var": "parent"]]),
            ],
        ]
        let parent = Sample.section("parents", [Sample.question("parent", "boolean")])
        let after = Sample.section("after", [Sample.question("rest", "boolean", ["visibleIf": ["var": "toys"]])])
        let definition = try DefinitionParserTests.parse(Sample.definition(sections: [parent, children]))
        #expect(definition.sections[1].repetition == .init(subject: "child", range: 1...20, label: "name"))
        #expect(
            DefinitionParserTests.problems(Sample.definition(sections: [parent, children, after])) == [
                "E05 /sections/2/questions/0/visibleIf/var"
            ])
        let report = PublishGate.check(definition, today: testDay, declared: nil)
        #expect(report.problems == [])
    }

    // MARK: Subjects

    /// - Parameter after: a condition of a question behind the section about each child.
    private static func family(after: JSONValue = .null, inside: JSONValue = .null, before: JSONValue = .null)
        -> JSONValue
    {
        let inner = [
            Sample.question("age", "slider"), Sample.question("toy", "boolean", ["visibleIf": inside]),
        ]
        return Sample.definition(sections: [
            Sample.section("parents", [Sample.question("parent", "boolean", ["visibleIf": before])]),
            Sample.children(1...3, inner),
            Sample.section(
                "after",
                [
                    Sample.question("between", "boolean"), Sample.question("rest", "boolean", ["visibleIf": after]),
                ]),
        ])
    }

    @Test(
        "conditions over subjects see only their allowed scope",
        arguments: [
            ([">": [["subjects": ["count": "child"]], 1]], []),
            (["in": [["subjects": ["count": "child"]], [1, 2]]], []),
            (["subjects": ["any": ["child", [">": [["var": "age"], 2]]]]], []),
            (["subjects": ["all": ["child", ["and": [["var": "toy"], ["var": "parent"]]]]]], []),
            (["subjects": ["any": ["child", ["==": [["ctx": "locale"], "en"]]]]], []),
            (["subjects": ["count": "child"]], ["E05 /subjects/count"]),
            (["==": [["subjects": ["any": ["child", true]]], true]], ["E05 /==/0/subjects"]),
            (["==": [["subjects": ["count": "child"]], "1"]], ["E05 /==/1"]),
            (["==": [["subjects": ["count": 1]], 1]], ["malformed /==/0/subjects/count"]),
            (["subjects": ["any": ["child"]]], ["malformed /subjects/any"]),
            (["subjects": ["any": ["child", 1]]], ["malformed /subjects/any/1"]),
            (["subjects": ["any": ["pet", true]]], ["E02 /subjects/any/0"]),
            (["subjects": ["any": ["child", ["var": "nobody"]]]], ["E02 /subjects/any/1/var"]),
            (["subjects": ["any": ["child", ["var": "age"]]]], ["E05 /subjects/any/1/var"]),
            (["subjects": ["any": ["child", ["var": "between"]]]], ["E04 /subjects/any/1/var"]),
            (
                ["subjects": ["any": ["child", ["subjects": ["any": ["child", ["var": "toy"]]]]]]],
                ["E04 /subjects/any/1/subjects/any/0"]
            ),
            (["and": [["subjects": ["any": ["child", true]]], ["var": "toy"]]], ["E05 /and/1/var"]),
        ] as [(JSONValue, [String])])
    func subjects(condition: JSONValue, problems: [String]) {
        let pointer = "/sections/2/questions/1/visibleIf"
        let found = DefinitionParserTests.problems(Self.family(after: condition))
        #expect(difference(between: found, and: problems.map { $0.replacing(" ", with: " " + pointer) }) == [])
    }

    @Test func aCircleThroughSubjectsIsPrinted() throws {
        func messages(_ json: JSONValue) -> [String] {
            do throws(DefinitionError) {
                _ = try DefinitionParser.parse(CanonicalJSON.bytes(of: json))
                return []
            } catch {
                return error.problems.filter { $0.code == "E04" }.map(\.message)
            }
        }
        let own = messages(Self.family(inside: [">": [["subjects": ["count": "child"]], 1]]))
        #expect(own.count == 1 && own.allSatisfy { $0.hasSuffix(" toy → section children") })
        // The parent is asked where there are children, who are asked about where the parent said so.
        var circle = Self.family(before: ["subjects": ["any": ["child", true]]])
        circle = circle.setting("sections.1.visibleIf", to: ["var": "parent"])
        let whole = messages(circle)
        #expect(whole.count == 1 && whole.allSatisfy { $0.hasSuffix(" parent → section children → parent") })
    }

    @Test func limitsHoldForConditionsOverSubjects() {
        func nested(_ depth: Int) -> JSONValue { depth == 1 ? true : ["not": nested(depth - 1)] }
        let pointer = "malformed /sections/2/questions/1/visibleIf"
        #expect(DefinitionParserTests.problems(Self.family(after: ["subjects": ["any": ["child", nested(6)]]])) == [])
        #expect(
            DefinitionParserTests.problems(Self.family(after: ["subjects": ["any": ["child", nested(7)]]])) == [pointer]
        )
        // With the two operators and the name of the subjects, 61 constants and their operator are 65.
        let wide = { (count: Int) -> JSONValue in ["or": .array(Array(repeating: true, count: count))] }
        #expect(DefinitionParserTests.problems(Self.family(after: ["subjects": ["all": ["child", wide(60)]]])) == [])
        #expect(
            DefinitionParserTests.problems(Self.family(after: ["subjects": ["all": ["child", wide(61)]]])) == [pointer])
    }

    @Test func conditionsOverNoSubjectsAreVacuous() throws {
        let json = Self.family(after: ["subjects": ["all": ["child", ["var": "toy"]]]])
            .setting("sections.1.visibleIf", to: ["var": "parent"])
        let definition = try DefinitionParserTests.parse(json)
        let child = Subject(id: .ordered(), kind: "child", position: 1)
        func hides(_ toy: JSONValue?, parent: JSONValue = true, children: [Subject]) -> Bool {
            var answers = ["parent": answer(.answered, parent)]
            if let toy { answers["toy/\(child.id)"] = answer(.answered, toy) }
            let sheet = AnswerSheet(
                definition: definition, answers: answers, subjects: children, today: testDay)
            return sheet.hidden.contains("rest")
        }
        #expect(!hides(nil, children: []), "all of none")
        #expect(hides(nil, children: [child]), "not known of one")
        #expect(hides(false, children: [child]) && !hides(true, children: [child]))
        #expect(!hides(false, parent: false, children: [child]), "nobody who counts")
    }

    @Test func sectionsAndQuestionsMayHaveTheSameKey() throws {
        _ = try DefinitionParserTests.parse(Sample.definition([Sample.question("first", "boolean")]))
    }

    @Test func aLargeDefinitionIsRead() throws {
        let questions = (0..<200).map {
            Sample.question("q\($0)", "single_choice", options: ["a", "b", "c", "d", "e"])
        }
        #expect(try DefinitionParserTests.parse(Sample.definition(questions)).questions.count == 200)
    }

    @Test func thereAreAtMost500Questions() throws {
        func many(_ count: Int) -> JSONValue {
            Sample.definition(
                sections: (0..<count).map { Sample.section("s\($0)", [Sample.question("q\($0)", "boolean")]) })
        }
        _ = try DefinitionParserTests.parse(many(500))
        #expect(
            DefinitionParserTests.problems(
                many(500).setting(
                    "sections.0",
                    to: Sample.section(
                        "s0",
                        [
                            Sample.question("q0", "boolean"), Sample.question("one", "boolean"),
                        ]))) == ["malformed /sections"])
    }
}

@Suite("answers under conditions") struct ConditionalSheetTests {
    static let json = Sample.definition([
        Sample.question("sex", "single_choice", options: ["female", "male"], ["required": true]),
        Sample.question(
            "cycle", "number",
            [
                "visibleIf": ["==": [["var": "sex"], "female"]], "skippable": true,
                "requiredIf": ["==": [["var": "sex"], "female"]],
            ]),
        Sample.question(
            "goals", "multi_choice",
            [
                "options": [
                    ["key": "sleep", "labelKey": "o"],
                    ["key": "beard", "labelKey": "o", "visibleIf": ["==": [["var": "sex"], "male"]]],
                ]
            ]),
        Sample.question("why", "text", ["visibleIf": ["answered": "goals"]]),
    ])

    static func sheet(_ answers: [String: JSONValue]) throws -> AnswerSheet {
        AnswerSheet(
            definition: try DefinitionParserTests.parse(json), answers: answers.mapValues { answer(.answered, $0) },
            today: testDay)
    }

    @Test func aHiddenAnswerIsKeptAndCountsForNothing() throws {
        let shown = try Self.sheet(["sex": "female", "cycle": 28])
        #expect(shown.progress.answered == 2 && shown.progress.total == 3)
        let hidden = try Self.sheet(["sex": "male", "cycle": 28])
        #expect(hidden.progress.answered == 1 && hidden.progress.total == 2 && hidden.missing.isEmpty)
        #expect(hidden.answers["cycle"]?.value == 28)
        #expect(hidden.visible.filter { $0.answer != nil }.map(\.key) == ["sex"])
    }

    @Test func anAnswerWithAnOptionNoLongerOfferedIsAskedAgain() throws {
        let fresh = try Self.sheet(["sex": "male", "goals": ["beard"], "why": "x"])
        #expect(fresh.stale.isEmpty && fresh.next == nil)
        let stale = try Self.sheet(["sex": "female", "cycle": 28, "goals": ["beard"], "why": "x"])
        #expect(stale.stale == ["goals"] && stale.next?.key == "goals")
        #expect(stale.missing == [MissingAnswer(question: "goals", reason: .stale)])
        #expect(stale.hidden == ["why"], "a condition does not take it for an answer either")
    }

    @Test func aQuestionShownByAWriteIsNextAsNewlyVisible() throws {
        let (start, female) = (try Self.sheet([:]), try Self.sheet(["sex": "female"]))
        let change = SheetChange(from: start, to: start.with(female.answers))
        #expect(change.next == NextQuestion(question: "cycle", reason: "newly_visible") && change.shown == ["cycle"])
        #expect(SheetChange(from: female, to: female).next?.reason == "unanswered")
        let male = SheetChange(from: female, to: female.with(["sex": answer(.answered, "male")]))
        #expect(male.next == NextQuestion(question: "goals", reason: "unanswered") && male.hidden == ["cycle"])
    }

    @Test func aSkippedQuestionThatBecomesRequiredIsAskedAgain() throws {
        var sheet = try Self.sheet(["sex": "female"])
        sheet.set(answer(.skipped), for: "cycle")
        #expect(sheet.next?.key == "cycle" && sheet.progress.requiredRemaining == 1)
        let skip = ResponseItem(question: "cycle", state: .skipped)
        let now = Timestamp(microsecondsSinceEpoch: 0)
        #expect(throws: ResponseRefusal.self) {
            try ResponsePlan.make([skip], on: try Self.sheet(["sex": "female"]), mutations: [], now: now)
        }
        #expect(try ResponsePlan.make([skip], on: try Self.sheet([:]), mutations: [], now: now).changesAnswers)
    }

    @Test func itemsOfARequestSeeTheEffectOfEarlierItems() throws {
        let items = [
            ResponseItem(question: "sex", value: "male"), ResponseItem(question: "goals", value: ["beard"]),
        ]
        let now = Timestamp(microsecondsSinceEpoch: 0)
        let plan = try ResponsePlan.make(items, on: try Self.sheet([:]), mutations: [], now: now)
        #expect(plan.answers["goals"]?.value == ["beard"])
        #expect(throws: ResponseRefusal.self) {
            try ResponsePlan.make(items.reversed(), on: try Self.sheet([:]), mutations: [], now: now)
        }
    }
}
