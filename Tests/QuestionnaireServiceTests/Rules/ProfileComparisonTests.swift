import BusProtocol
import JSONText
import Testing

@testable import QuestionnaireService

@Suite("comparison of two people") struct ProfileComparisonTests {
    private static let definition: Result<Definition, DefinitionError> = Result { () throws(DefinitionError) in
        try DefinitionParser.parse(EmbeddedFiles.Definitions.yoked_compat.bytes)
    }

    private static func sheet(_ generator: inout SeededGenerator) throws -> AnswerSheet {
        let definition = try definition.get()
        var answers: [String: Answer] = [:]
        for question in definition.questions where Int.random(in: 0..<5, using: &generator) > 0 {
            let keys = question.options.map { JSONValue.string($0.key) }.shuffled(using: &generator)
            let value: JSONValue
            switch question.kind {
            case .singleChoice: value = keys[0]
            case .multiChoice, .tags:
                let (least, most) = question.countLimits
                let alone = question.options.filter(\.exclusive).map { JSONValue.string($0.key) }
                let count = Int.random(in: least...min(most, 3), using: &generator)
                let chosen =
                    count == 1 && alone.contains(keys[0])
                    ? [keys[0]] : Set(keys.filter { !alone.contains($0) }.prefix(count))
                value = .array(question.options.map { .string($0.key) }.filter(chosen.contains))
            case .ranking: value = .array(Array(keys.prefix(question.constraints.topK ?? keys.count)))
            default: value = question.constraints.min!.json
            }
            answers[question.key] = answer(.answered, value)
        }
        return AnswerSheet(definition: definition, answers: answers, today: testDay)
    }

    /// The same in floating point, from the words of the rule.
    private static func naive(_ a: JSONValue, _ b: JSONValue) -> (psychological: Double?, physical: Double?) {
        func mean(_ parts: [Double]) -> Double? { parts.isEmpty ? nil : parts.reduce(0, +) / Double(parts.count) }
        let near = ["values", "lifestyle", "communication"].compactMap { key -> Double? in
            guard let a = a[key]?["score"]?.doubleValue, let b = b[key]?["score"]?.doubleValue else { return nil }
            return 100 - abs(a - b)
        }
        let (mine, theirs) = (a["physical_preference"]?["tags"]?.objectValue ?? [:], b["physical_preference"]?["tags"])
        let shared = mine.compactMap { key, tags -> Double? in
            guard let others = theirs?[key]?.arrayValue else { return nil }
            let (a, b) = (Set(tags.arrayValue ?? []), Set(others))
            return 100 * Double(a.intersection(b).count) / Double(a.union(b).count)
        }
        return (mean(near), mean(shared))
    }

    @Test func isThatOfTheRuleAndTheSameBothWays() throws {
        var generator = SeededGenerator(state: 7)
        for _ in 0..<300 {
            let (a, b) = (try Self.sheet(&generator), try Self.sheet(&generator))
            func side(_ sheet: AnswerSheet) -> ProfileComparison.Side {
                .init(scores: Scoring(sheet: sheet).result, definition: sheet.definition)
            }
            let comparison = ProfileComparison(first: side(a), second: side(b))
            let turned = ProfileComparison(first: side(b), second: side(a))
            #expect(comparison.psychological == turned.psychological && comparison.physical == turned.physical)
            let expected = Self.naive(Scoring(sheet: a).result, Scoring(sheet: b).result)
            for (found, wanted) in [
                (comparison.psychological.score, expected.psychological),
                (comparison.physical.score, expected.physical),
            ] {
                #expect((found == nil) == (wanted == nil))
                if let found, let wanted { #expect(abs(found - wanted) < 0.002 && (0...100).contains(found)) }
            }
        }
    }

    private static func side(_ build: [JSONValue]?, hair: [JSONValue]? = nil) throws -> ProfileComparison.Side {
        let definition = try definition.get()
        let answers = ["preferredBuild": build, "preferredHair": hair].compactMapValues { tags in
            tags.map { answer(.answered, .array($0)) }
        }
        let sheet = AnswerSheet(definition: definition, answers: answers, today: testDay)
        return .init(scores: Scoring(sheet: sheet).result, definition: definition)
    }

    /// Both ways, and by what is known. Tastes are compared where the profile says nothing of the kind.
    @Test(
        arguments: [
            (["slim"], ["athletic"], ["athletic"], ["slim"], 100.0),
            (["slim"], ["athletic"], ["slim"], ["athletic"], 0),
            (["slim", "curvy"], ["athletic"], ["curvy"], ["curvy"], 50), (["slim"], nil, [], ["slim"], 100),
            (["slim"], ["athletic"], [], ["curvy"], 0), (["no_preference"], nil, [], ["other"], 100),
            (["slim"], ["slim"], [], [], nil), (["no_preference"], nil, ["slim"], [], nil),
        ] as [([JSONValue], [JSONValue]?, [String], [String], Double?)])
    func eachPersonIsComparedWithTheOthersWishes(
        wishes: [JSONValue], others: [JSONValue]?, first: [String], second: [String], score: Double?
    ) throws {
        let (a, b) = (try Self.side(wishes), try Self.side(others))
        let traits = WishedTraits(question: "preferredBuild", first: first, second: second)
        let turned = WishedTraits(question: "preferredBuild", first: second, second: first)
        for comparison in [
            ProfileComparison(first: a, second: b, traits: [traits]),
            ProfileComparison(first: b, second: a, traits: [turned]),
        ] {
            #expect(comparison.physical.score == score)
            #expect(comparison.physical.compared == score.map { _ in 1 })
        }
    }

    @Test func tastesAndWishesBothCount() throws {
        let (a, b) = (try Self.side(["slim"], hair: ["short"]), try Self.side(["slim"], hair: ["long"]))
        let traits = WishedTraits(question: "preferredBuild", first: ["athletic"], second: ["slim"])
        let comparison = ProfileComparison(first: a, second: b, traits: [traits])
        #expect(comparison.physical.score == 25 && comparison.physical.compared == 2)
        let former = ProfileComparison(first: a, second: b)
        #expect(former.physical.score == 50, "a former replica of profile tells no traits")
    }

    /// In any order of the answers, given to this version or moved to it.
    @Test func scoresDependOnTheAnswersAlone() throws {
        var generator = SeededGenerator(state: 8)
        let definition = try Self.definition.get()
        let file = try DefinitionParser.read(definition.canonicalText).file
        for _ in 0..<100 {
            let sheet = try Self.sheet(&generator)
            let items = sheet.answers.map { ResponseItem(question: $0.key, value: $0.value.value) }
            let now = Timestamp(microsecondsSinceEpoch: 0)
            let plan = try ResponsePlan.make(
                items.shuffled(using: &generator),
                on: AnswerSheet(definition: definition, answers: [:], today: testDay), mutations: [], now: now)
            let other = AnswerSheet(definition: definition, answers: plan.answers, today: testDay)
            #expect(Scoring(sheet: other).result == Scoring(sheet: sheet).result)
            let moved = QuestionnaireSessionMigration(
                of: plan.answers, along: QuestionnaireSessionMigrationPath(from: file, through: [file], to: definition),
                now: now)
            let carried = AnswerSheet(definition: definition, answers: moved.answers, today: testDay)
            #expect(Scoring(sheet: carried).result == Scoring(sheet: sheet).result)
        }
    }
}
