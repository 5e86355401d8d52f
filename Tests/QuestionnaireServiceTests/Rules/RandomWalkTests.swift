import BusProtocol
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// People who answer, skip, decline, take back and add children at random, in questionnaires made at random.
@Suite("random walks") struct RandomWalkTests {
    private static let definitions = Rounds.count(40, prove: 500)
    private static let walks = 20
    private static let steps = 8

    @Test func randomWalksAgreeWithTheNaiveRules() throws {
        for seed in 0..<Self.definitions {
            var conditions = RandomConditions(generator: SeededGenerator(state: UInt64(seed)))
            let json = Self.definition(&conditions)
            let definition = try DefinitionParserTests.parse(json)
            for walk in 0..<Self.walks {
                var walker = Walker(definition, json, SeededGenerator(state: UInt64(seed * 1000 + walk)))
                for step in 0..<Self.steps {
                    walker.step()
                    guard walker.agrees else {
                        Issue.record("\(seed) \(walk) \(step): \(walker.told)")
                        return
                    }
                }
            }
        }
    }

    /// A plain section, one that repeats, and a plain one again.
    private static func definition(_ conditions: inout RandomConditions) -> JSONValue {
        let types = ["single_choice", "multi_choice", "boolean", "slider", "info"]
        var plain: [JSONValue] = []
        func questions(_ names: [String], before: [JSONValue]) -> [JSONValue] {
            var made: [JSONValue] = []
            for name in names {
                let earlier = (before + made).filter { $0["type"] != "info" }
                made.append(question(name, types.randomElement(using: &conditions.generator)!, earlier, &conditions))
            }
            return made
        }
        plain = questions(["a0", "a1", "a2"], before: [])
        let inner = questions(["b0", "b1"], before: plain)
        conditions.facts = ["locale", "platform", "profile.country"]
        conditions.children = inner.filter { $0["type"] != "info" }
        conditions.parents = plain.filter { $0["type"] != "info" }
        let last = questions(["c0", "c1"], before: plain)
        let third = shown()
        conditions.children = []
        let least = Int64.random(in: 0...2, using: &conditions.generator)
        func shown() -> JSONValue {
            let known = plain.filter { $0["type"] != "info" }
            guard !known.isEmpty, Int.random(in: 0..<4, using: &conditions.generator) == 0 else { return .null }
            return conditions.condition(over: known)
        }
        var repeated = Sample.section("second", inner, visibleIf: shown()).objectValue!
        repeated["repeat"] = ["subject": "child", "min": .integer(least), "max": 3]
        return Sample.definition(
            sections: [
                Sample.section("first", plain), .object(repeated), Sample.section("third", last, visibleIf: third),
            ], locales: ["en", "sv"])
    }

    private static func question(
        _ key: String, _ type: String, _ earlier: [JSONValue], _ conditions: inout RandomConditions
    ) -> JSONValue {
        func maybe(_ odds: Int) -> Bool { Int.random(in: 0..<odds, using: &conditions.generator) == 0 }
        var members: [String: JSONValue] = [:]
        let isInfo = type == "info"
        if maybe(3), !isInfo { members["required"] = true } else if maybe(2), !isInfo { members["skippable"] = true }
        if maybe(3), !isInfo { members["declinable"] = true }
        guard !earlier.isEmpty else { return Sample.question(key, type, .object(members)) }
        if maybe(2) { members["visibleIf"] = conditions.condition(over: earlier) }
        if maybe(4), !isInfo, members["required"] == nil { members["requiredIf"] = conditions.condition(over: earlier) }
        if ["single_choice", "multi_choice"].contains(type), maybe(2) {
            members["options"] = .array(
                ["a", "b", "c"].map { option in
                    var whole: [String: JSONValue] = ["key": .string(option), "labelKey": "o"]
                    if maybe(2) { whole["visibleIf"] = conditions.condition(over: earlier) }
                    return .object(whole)
                })
        }
        return Sample.question(key, type, .object(members))
    }
}

/// One person, told to the service's rules and to the naive ones.
private struct Walker {
    private var sheet: AnswerSheet
    private var naive: NaiveWalk
    private var generator: SeededGenerator
    private var added: Int64 = 0
    /// Every answer that was ever hidden is still there.
    private var keepsAll = true

    init(_ definition: Definition, _ json: JSONValue, _ generator: SeededGenerator) {
        self.generator = generator
        var facts: [String: JSONValue] = [:]
        for (name, values) in RandomConditions.values.sorted(by: { $0.key < $1.key }) {
            facts[name] = (values + [.null]).randomElement(using: &self.generator)
        }
        sheet = AnswerSheet(definition: definition, answers: [:], facts: facts, today: testDay)
        naive = NaiveWalk(definition: json)
        naive.facts = facts.filter { $0.value != .null }
    }

    mutating func step() {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: add()
        case 1: remove()
        default: answer()
        }
    }

    private mutating func replace(_ subjects: [Subject]) {
        sheet = sheet.with(subjects)
        naive.subjects = subjects.map(\.id.description)
    }

    private mutating func add() {
        guard sheet.subjects.count < 4 else { return }
        added += 1
        replace(sheet.subjects + [Subject(id: .ordered(), kind: "child", position: added)])
    }

    private mutating func remove() {
        replace(sheet.subjects.filter { _ in Bool.random(using: &generator) })
    }

    private mutating func answer() {
        guard let item = sheet.items.randomElement(using: &generator) else { return }
        let state: AnswerState =
            [.answered, .answered, .answered, .skipped, .declined, .acknowledged, .unanswered]
            .randomElement(using: &generator)!
        let write = ResponseItem(
            question: item.question.key, subject: item.subject, value: state == .answered ? value(of: item) : nil,
            state: state)
        let before = sheet
        let plan = ResponsePlan.each(
            [write], on: sheet, mutations: [], now: Timestamp(microsecondsSinceEpoch: 0))
        sheet = AnswerSheet(
            definition: before.definition, answers: plan.answers, subjects: before.subjects, facts: before.facts,
            today: before.today)
        for (key, answer) in before.answers where key != item.key {
            keepsAll = keepsAll && sheet.answers[key] == answer
        }
        guard case .saved(let saved) = plan.outcomes[0], saved.revision > 0 else { return }
        let answer = plan.answers[item.key]!
        naive.answers[item.key] = .init(state: answer.state.rawValue, value: answer.value)
    }

    /// An option of the definition, offered or not.
    private mutating func value(of item: AnswerSheet.Item) -> JSONValue {
        let keys = sheet.definition.questions[item.place].options.map { JSONValue.string($0.key) }
        switch item.kind {
        case .boolean: return .bool(Bool.random(using: &generator))
        case .slider: return .integer(Int64.random(in: 0...4, using: &generator))
        case .singleChoice: return keys.randomElement(using: &generator) ?? .null
        default:
            return .array(keys.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator)).map(\.self))
        }
    }

    private var next: String? {
        sheet.next.map { next in
            next.reason == .subjectWanted ? next.reason.rawValue : "\(next.key) \(next.reason.rawValue)"
        }
    }

    private var missing: Set<String> {
        Set(
            sheet.missing.map { missing in
                switch missing.reason {
                case .tooFewSubjects, .tooManySubjects: missing.reason.rawValue
                default: "\(AnswerPlace(missing.question, of: missing.subject).key) \(missing.reason.rawValue)"
                }
            })
    }

    private var progress: [Int] {
        let progress = sheet.progress
        return [Int(progress.answered), Int(progress.total), Int(progress.requiredRemaining)]
    }

    /// Everything agrees with the naive walk. All visible questions are answered exactly when no question is next.
    var agrees: Bool {
        keepsAll && progress == naive.progress && next == naive.next && missing == naive.missing
            && sheet.visible.map(\.key) == naive.seen.map(\.key) && (progress[0] == progress[1]) == (next == nil)
            && (sheet.progress.percentage == 100) == (next == nil)
    }

    var told: String { "\(progress) \(naive.progress) \(next ?? "-") \(naive.next ?? "-") \(missing) \(naive.missing)" }
}
