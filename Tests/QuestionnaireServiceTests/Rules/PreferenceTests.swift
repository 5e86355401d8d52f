import BusProtocol
import JSONText
import Testing

@testable import QuestionnaireService

/// What somebody wants of another's answer.
@Suite("preferences") struct PreferenceTests {
    static let asked: JSONValue = ["preference": ["acceptable": true, "importance": [0, 1, 10, 50, 250]]]
    private static let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)

    private static func definition(_ questions: [JSONValue]) throws -> Definition {
        try DefinitionParserTests.parse(Sample.definition(questions))
    }

    private static func plan(
        _ preference: AnswerPreference?, on question: JSONValue, state: AnswerState = .answered,
        over answers: [String: Answer] = [:], base: Int64? = nil
    ) throws -> ResponsePlan {
        let sheet = AnswerSheet(definition: try definition([question]), answers: answers, today: testDay)
        let item = ResponseItem(
            question: "one", value: state == .answered ? "a" : nil, state: state, baseRevision: base,
            preference: preference)
        return ResponsePlan.each([item], on: sheet, mutations: [], now: now)
    }

    private static func problem(_ plan: ResponsePlan) -> String? {
        plan.outcomes.first?.refusal?.errors?.first.map { "\($0.field) \($0.code)" }
    }

    @Test func isHeldAgainstItsQuestion() throws {
        let question = Sample.question("one", "single_choice", Self.asked)
        let saved = try Self.plan(AnswerPreference(acceptable: ["c", "a", "c"], importance: 50), on: question)
        #expect(saved.answers["one"]?.preference == AnswerPreference(acceptable: ["a", "c"], importance: 50))
        for (preference, code) in [
            (AnswerPreference(acceptable: ["a", "z"], importance: 1), "unknown_option"),
            (AnswerPreference(acceptable: [], importance: 1), "unknown_option"),
            (AnswerPreference(acceptable: ["a"], importance: 2), "not_allowed"),
        ] {
            #expect(Self.problem(try Self.plan(preference, on: question)) == "preference \(code)")
        }
        let valid = AnswerPreference(acceptable: ["a"], importance: 1)
        let plain = Sample.question("one", "single_choice", ["skippable": true])
        #expect(Self.problem(try Self.plan(valid, on: plain)) == "preference not_allowed")
        let skippable = Sample.question(
            "one", "single_choice", .object((Self.asked.objectValue ?? [:]).merging(["skippable": true]) { $1 }))
        #expect(Self.problem(try Self.plan(valid, on: skippable, state: .skipped)) == "preference not_allowed")
    }

    @Test func isAPartOfTheAnswer() throws {
        let question = Sample.question("one", "single_choice", Self.asked)
        let first = AnswerPreference(acceptable: ["a"], importance: 10)
        let known = try Self.plan(first, on: question).answers
        #expect(try Self.plan(first, on: question, over: known).writes.isEmpty)
        let other = AnswerPreference(acceptable: ["a"], importance: 250)
        let changed = try Self.plan(other, on: question, over: known)
        #expect(changed.answers["one"]?.revision == 2 && changed.answers["one"]?.preference == other)
        #expect(try Self.plan(nil, on: question, over: known).answers["one"]?.preference == nil)
        let late = try Self.plan(other, on: question, over: known, base: 0)
        #expect(
            late.outcomes.first?.refusal?.details?["current"]?["preference"] == [
                "acceptable": ["a"], "importance": 10,
            ])
    }

    @Test func isForChoicesOfOnePerson() {
        func problems(_ question: JSONValue, isRepeated: Bool = false) -> Set<String> {
            var section: [String: JSONValue] = ["key": "first", "questions": [question]]
            if isRepeated { section["repeat"] = ["subject": "child", "min": 1, "max": 2] }
            return DefinitionParserTests.problems(Sample.definition(sections: [.object(section)]))
        }
        let pointer = "E08 /sections/0/questions/0/preference"
        #expect(problems(Sample.question("one", "multi_choice", Self.asked)) == [])
        #expect(problems(Sample.question("one", "slider", Self.asked)) == [pointer])
        #expect(problems(Sample.question("one", "single_choice", Self.asked), isRepeated: true) == [pointer])
    }

    /// By the keys of the options, as the answer itself.
    @Test func aPreferenceMovesToAnotherVersion() throws {
        let old = Sample.definition([Sample.question("one", "single_choice", Self.asked)])
        func version(_ options: [String], _ importance: [Int64], map: JSONValue) -> JSONValue {
            let asked: JSONValue = [
                "preference": ["acceptable": true, "importance": .array(importance.map { .integer($0) })]
            ]
            return Sample.definition([Sample.question("one", "single_choice", options: options, asked)]).setting(
                "migrations", to: [["options": ["question": "one", "map": map]]])
        }
        var start = answer(.answered, "b", revision: 3)
        start.preference = AnswerPreference(acceptable: ["a", "c"], importance: 50)
        func moved(to new: JSONValue) throws -> Answer? {
            let files = try [old, new].map { try DefinitionParser.read(CanonicalJSON.bytes(of: $0)).file }
            let path = QuestionnaireSessionMigrationPath(
                from: files[0], through: [files[1]], to: try DefinitionParserTests.parse(new))
            return QuestionnaireSessionMigration(of: ["one": start], along: path, now: Self.now).answers["one"]
        }
        let renamed = try moved(to: version(["b", "c", "d"], [0, 50], map: ["a": "d"]))
        #expect(renamed?.preference == AnswerPreference(acceptable: ["c", "d"], importance: 50))
        #expect(renamed?.value == "b" && renamed?.revision == 4)
        let unimportant = try moved(to: version(["a", "b", "c", "d"], [0, 1], map: ["z": "d"]))
        #expect(unimportant?.preference == nil && unimportant?.value == "b" && unimportant?.isStale == false)
    }

    @Test func aChangedPreferenceOnlyRescores() throws {
        let files = try [[:], Self.asked].map { members in
            try DefinitionParser.read(
                CanonicalJSON.bytes(of: Sample.definition([Sample.question("one", "single_choice", members)]))
            ).file
        }
        #expect(DefinitionDifference(from: files[0], to: files[1]).changeClass == .rescore)
    }
}

/// The figure against the rule, in floating point and from its words.
@Suite("affinity of two people") struct AffinityTests {
    private struct Person {
        /// By question: what was chosen, what would do, and how much it matters.
        var stances: [String: (chosen: Set<String>, acceptable: Set<String>, importance: Double)] = [:]
        var answers: [String: JSONValue] = [:]

        init(_ generator: inout SeededGenerator, questions: Int, importances: [Int64]) {
            for number in 0..<questions where Int.random(in: 0..<4, using: &generator) > 0 {
                let isMulti = number % 2 == 1
                let options = ["a", "b", "c"].shuffled(using: &generator)
                let chosen = Array(options.prefix(isMulti ? Int.random(in: 1...2, using: &generator) : 1)).sorted()
                let value = isMulti ? JSONValue.array(chosen.map { .string($0) }) : .string(chosen[0])
                var answer: [String: JSONValue] = ["state": "answered", "revision": 1, "value": value]
                // Some answer and do not say what they want.
                if Int.random(in: 0..<5, using: &generator) > 0 {
                    let acceptable = options.shuffled(using: &generator).prefix(
                        Int.random(in: 1...3, using: &generator))
                    let importance = importances.randomElement(using: &generator) ?? 0
                    answer["preference"] = [
                        "acceptable": .array(acceptable.map { .string($0) }), "importance": .integer(importance),
                    ]
                    stances["q\(number)"] = (Set(chosen), Set(acceptable), Double(importance))
                }
                answers["q\(number)"] = .object(answer)
            }
        }

        func satisfaction(with other: Person, over shared: [String]) -> Double {
            var (possible, earned) = (0.0, 0.0)
            for key in shared {
                guard let mine = stances[key], let theirs = other.stances[key] else { continue }
                possible += mine.importance
                if theirs.chosen.allSatisfy(mine.acceptable.contains) { earned += mine.importance }
            }
            return possible == 0 ? 1 : earned / possible
        }
    }

    private static func definition(_ questions: Int) throws -> Definition {
        try DefinitionParserTests.parse(
            Sample.definition(
                (0..<questions).map { number in
                    Sample.question(
                        "q\(number)", number % 2 == 1 ? "multi_choice" : "single_choice", PreferenceTests.asked)
                }))
    }

    @Test(arguments: [[0, 1, 10, 50, 250], [0], [250], [0, 1000]] as [[Int64]])
    func isThatOfTheRuleAndTheSameBothWays(importances: [Int64]) throws {
        var generator = SeededGenerator(state: 11)
        for round in 0..<400 {
            let count = round % 12 + 1
            let definition = try Self.definition(count)
            let people = [0, 1].map { _ in
                Person(&generator, questions: count, importances: importances)
            }
            let sides = people.map {
                ProfileComparison.Side(scores: [:], definition: definition, answers: .object($0.answers))
            }
            let found = ProfileComparison(first: sides[0], second: sides[1]).affinity
            #expect(ProfileComparison(first: sides[1], second: sides[0]).affinity == found)
            let shared = people[0].stances.keys.filter { people[1].stances[$0] != nil }
            guard !shared.isEmpty else {
                #expect(found == nil)
                continue
            }
            let product =
                people[0].satisfaction(with: people[1], over: shared)
                * people[1].satisfaction(with: people[0], over: shared)
            let wanted = max(0, product.squareRoot() - 1 / Double(shared.count)) * 100
            let score = try #require(found?.score)
            #expect(abs(score - wanted) < 0.2 && (0...100).contains(score), "\(score) \(wanted)")
            // Near nothing a root is steep; elsewhere the millionths leave no trace.
            if product > 0.0001 { #expect(abs(score - wanted) < 0.002) }
            #expect(abs((found?.coverage ?? 0) - 100 * Double(shared.count) / Double(count)) < 0.001)
        }
    }

    @Test func rootsAreWhole() {
        for number in [0, 1, 2, 3, 4, 999_999, 1_000_000, 999_999_999_999, 1_000_000_000_000] as [Int64] {
            let root = ProfileComparison.squareRoot(number)
            #expect(root * root <= number && (root + 1) * (root + 1) > number)
        }
    }
}
