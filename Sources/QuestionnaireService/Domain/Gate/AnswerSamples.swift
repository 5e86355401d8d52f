import BusProtocol
import Documents
import Foundation
import JSONText

/// Sample answers to one question that cover every combination of results of its tests.
///
/// A test compares with constants. So one sample between two neighbouring constants represents all answers between
/// them. ``AnswerValidator`` decides whether a sample is valid, as for a person.
struct AnswerSamples {
    /// The question with the offered options only.
    let question: Question
    let tests: [AnswerTest]
    let today: CivilDate

    /// The most groups of options whose combinations are tried.
    private static let mostGroups = 10

    /// The samples in canonical form; empty if there is no valid answer. `nil` if there are too many combinations.
    var values: [JSONValue]? {
        guard let candidates else { return nil }
        let validator = AnswerValidator(question: question, today: today)
        return candidates.compactMap { try? validator.canonical($0) }
    }

    private var candidates: [JSONValue]? {
        switch question.kind {
        case .info: []
        case .boolean: [true, false]
        case .singleChoice: question.options.map { .string($0.key) } + ownEntries(question.constraints.otherCount)
        case .multiChoice, .tags, .ranking: choices
        case .slider, .number: numbers.map(\.json)
        case .height:
            numbers.compactMap(\.whole).map { ["unit": "in", "value": .integer(Int64($0))] }
        case .date: dates.map { .string($0.description) }
        case .text: texts.map { .string($0) }
        }
    }

    private func ownEntries(_ count: Int) -> [JSONValue] { (0..<count).map { ["other": .string(Self.word($0))] } }

    /// A word of letters, `a`, `b` and so on, with at least `length` letters. The pattern for names accepts it, too.
    private static func word(_ index: Int, length: Int = 1) -> String {
        var (rest, letters) = (index, "")
        repeat {
            letters.append(Character(Unicode.Scalar(UInt8(ascii: "a") + UInt8(rest % 26))))
            rest /= 26
        } while rest > 0
        return letters + String(repeating: "a", count: max(0, length - letters.count))
    }

    // MARK: Sets

    /// Samples of choices. Options in the same lists are alike, so only the chosen groups and the number of choices
    /// matter.
    private var choices: [JSONValue]? {
        let isRanking = question.kind == .ranking
        let alone = isRanking ? [] : question.options.filter(\.exclusive)
        let lists = tests.compactMap(\.list)
        let together = question.options.filter { isRanking || !$0.exclusive }
        var groups = Array(
            Dictionary(grouping: together) { option in lists.map { $0.contains(option.key) } }.values
                .map { $0.map { JSONValue.string($0.key) } })
        if !isRanking, question.constraints.otherCount > 0 {
            groups.append(ownEntries(question.constraints.otherCount))
        }
        guard groups.count <= Self.mostGroups else { return nil }
        var found = alone.map { JSONValue.array([.string($0.key)]) }
        for subset in 1..<(1 << groups.count) {
            let chosen = groups.indices.filter { subset >> $0 & 1 == 1 }.map { groups[$0] }
            let (least, most) = (chosen.count, chosen.reduce(0) { $0 + $1.count })
            for count in counts(from: least, to: most) {
                let rest = chosen.flatMap { $0.dropFirst() }.prefix(count - least)
                found.append(.array(chosen.map { $0[0] } + rest))
            }
        }
        return found
    }

    /// The numbers of choices that matter for a test, and the smallest and largest possible one.
    private func counts(from fewest: Int, to all: Int) -> [Int] {
        guard question.kind != .ranking else {
            let count = question.constraints.topK ?? question.options.count
            return (fewest...all).contains(count) ? [count] : []
        }
        let limits = question.countLimits
        let (least, most) = (max(limits.least, fewest), min(limits.most, all))
        let asked = tests.flatMap(\.numbers).flatMap { number -> [Int] in
            let whole = Int(number.count / 1000)
            return [whole - 1, whole, whole + 1]
        }
        return Set(asked + [least, most]).filter { $0 >= least && $0 <= most }.sorted()
    }

    // MARK: Numbers, dates, texts

    /// Every constant, its neighbours on the grid, and both ends of the range.
    private var numbers: [Thousandths] {
        let limits = question.constraints
        let isHeight = question.kind == .height
        let low = isHeight ? 48_000 : limits.min?.count ?? -1_000_000_000_000
        let high = isHeight ? 95_000 : limits.max?.count ?? 1_000_000_000_000
        let step = isHeight ? 1000 : limits.step?.count ?? 1
        let start = isHeight || question.kind == .slider ? low : 0
        var found: Set<Int64> = [low, high]
        for number in tests.flatMap(\.numbers) {
            let below = start + Self.floorDivide(number.count - start, step) * step
            found.formUnion([below - step, below, below + step])
        }
        return found.sorted().map { Thousandths(count: $0) }
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a / b - (a % b < 0 ? 1 : 0) }

    /// Every constant, every birthday at an age in a test or constraint, their neighbours, and both ends of the range.
    private var dates: [CivilDate] {
        let limits = question.constraints
        var found = [
            limits.earliest ?? CivilDate(daysSinceEpoch: .min / 2),
            limits.latest ?? CivilDate(daysSinceEpoch: .max / 2),
        ]
        found += tests.flatMap(\.dates)
        let ages = tests.flatMap(\.numbers).flatMap { [Int($0.count / 1000) - 1, Int($0.count / 1000)] }
        for age in ages + [limits.minAge, limits.maxAge].compactMap(\.self) {
            for years in age...(age + 2) {
                let day = CivilDate(year: today.year - years, month: today.month, day: min(today.day, 28))
                found.append(day ?? CivilDate(daysSinceEpoch: 0))
            }
        }
        // Three days on each side, since a birthday on 29 February moves.
        let near = found.flatMap { day in (-3...3).map { CivilDate(daysSinceEpoch: day.daysSinceEpoch + $0) } }
        return Array(Set(near)).sorted()
    }

    /// Every constant, and a text that equals none of them.
    private var texts: [String] {
        let constants = tests.flatMap(\.texts)
        let length = max(1, question.constraints.minLength ?? 1)
        let others = (0...constants.count).map { index in
            question.constraints.pattern == .digits
                ? String(repeating: "0", count: max(0, length - "\(index)".count)) + "\(index)"
                : Self.word(index, length: length)
        }
        return constants + others
    }
}

extension AnswerTest {
    fileprivate var list: Set<String>? {
        switch rule {
        case .anyIn(let keys), .allIn(let keys): keys
        default: nil
        }
    }

    fileprivate var numbers: [Thousandths] { rule.numbers }
    fileprivate var dates: [CivilDate] {
        rule.constants.compactMap { if case .date(let date) = $0 { date } else { nil } }
    }
    fileprivate var texts: [String] { rule.texts }
}

extension ConditionRule {
    fileprivate var constants: [Constant] {
        switch self {
        case .isOneOf(let constants): Array(constants)
        case .isBelow(_, let constant), .isAbove(_, let constant), .isEqual(_, let constant): [constant]
        case .isAnswered, .hasState, .anyIn, .allIn: []
        }
    }

    /// The numbers in comparisons.
    var numbers: [Thousandths] { constants.compactMap { if case .number(let number) = $0 { number } else { nil } } }
    /// The texts in comparisons, and the keys of options.
    var texts: [String] { constants.compactMap { if case .text(let text) = $0 { text } else { nil } } }
}
