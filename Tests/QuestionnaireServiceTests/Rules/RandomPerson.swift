import BusProtocol
import Documents
import JSONText

@testable import QuestionnaireService

/// A person who answers, skips, declines and removes answers at random, and adds and removes children. The naive
/// evaluator is told the same.
struct RandomPerson {
    /// Their own entry beside options.
    static let own = "Åsas eget <val> 🐻"

    /// The definition's file.
    let json: JSONValue
    private(set) var sheet: AnswerSheet
    private var saved = 0
    private var naive: NaiveWalk
    private var generator = SeededGenerator(state: 25)
    private var added: Int64 = 0

    init(_ definition: Definition, _ json: JSONValue) {
        self.json = json
        sheet = AnswerSheet(definition: definition, answers: [:], today: testDay)
        naive = NaiveWalk(definition: json)
    }

    /// The places that the naive evaluator finds visible, in order.
    var asked: [String] { naive.seen.map(\.key) }

    /// The view of a sheet that is made from the answers alone.
    func anew(_ published: PublishedDefinition, in language: String) -> SessionScreens {
        let sheet = AnswerSheet(
            definition: published.definition, answers: sheet.answers, subjects: sheet.subjects, today: sheet.today)
        return published.screens(for: sheet, revision: 1, in: language)
    }

    /// Tries until something is saved that changes the session.
    mutating func write() {
        let before = saved
        while saved == before { attempt() }
    }

    private mutating func attempt() {
        let hasChildren = sheet.definition.sections.contains { $0.repetition != nil }
        if hasChildren, sheet.subjects.isEmpty || Int.random(in: 0..<8, using: &generator) == 0 {
            changeChildren()
        } else if let item = sheet.items.randomElement(using: &generator) {
            answer(item)
        }
    }

    private mutating func changeChildren() {
        var children = sheet.subjects
        if children.count < 4, children.isEmpty || Bool.random(using: &generator) {
            added += 1
            children.append(Subject(id: .ordered(), kind: "child", position: added))
        } else {
            children.remove(at: Int.random(in: 0..<children.count, using: &generator))
        }
        sheet = sheet.with(children)
        naive.subjects = sheet.subjects.map(\.id.description)
        saved += 1
    }

    private mutating func answer(_ item: AnswerSheet.Item) {
        let states: [AnswerState] = [
            .answered, .answered, .answered, .answered, .skipped, .declined, .acknowledged, .unanswered,
        ]
        let state = item.isCounted ? states.randomElement(using: &generator)! : .acknowledged
        let value = state == .answered ? self.value(of: sheet.definition.questions[item.place]) : nil
        let write = ResponseItem(question: item.questionKey, subject: item.subject, value: value, state: state)
        let plan = ResponsePlan.each([write], on: sheet, mutations: [], now: Timestamp(microsecondsSinceEpoch: 0))
        guard plan.changesAnswers, let answer = plan.answers[item.key] else { return }
        sheet = sheet.with(plan.answers)
        naive.answers[item.key] = .init(state: answer.state.rawValue, value: answer.value)
        saved += 1
    }

    private mutating func value(of question: Question) -> JSONValue {
        let (limits, keys) = (question.constraints, question.options.map { JSONValue.string($0.key) })
        switch question.kind {
        case .singleChoice: return keys.randomElement(using: &generator)!
        case .ranking: return .array(Array(keys.shuffled(using: &generator).prefix(limits.topK ?? keys.count)))
        case .multiChoice, .tags:
            let (least, most) = question.countLimits
            let count = Int.random(in: least...min(most, keys.count), using: &generator)
            let hasOwn = limits.otherCount > 0 && Bool.random(using: &generator)
            let chosen = keys.shuffled(using: &generator).prefix(hasOwn ? count - 1 : count)
            return .array(Array(chosen) + (hasOwn ? [["other": .string(Self.own)]] : []))
        case .slider, .number:
            let (low, step) = (limits.min?.count ?? 0, limits.step?.count ?? 1000)
            let steps = ((limits.max?.count ?? 100_000) - low) / step
            return Thousandths(count: low + step * Int64.random(in: 0...steps, using: &generator)).json
        case .text:
            return limits.pattern == .digits ? "12345" : ["Alva", "Bo", "Cleo"].randomElement(using: &generator)!
        case .date: return .string("\(Int.random(in: 1950...2015, using: &generator))-05-04")
        case .height: return ["unit": "in", "value": .integer(Int64.random(in: 48...95, using: &generator))]
        case .boolean: return .bool(Bool.random(using: &generator))
        case .info: return .null
        }
    }
}
