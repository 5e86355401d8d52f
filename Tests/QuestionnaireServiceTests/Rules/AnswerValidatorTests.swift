import BusProtocol
import Documents
import JSONText
import Testing

@testable import QuestionnaireService

/// A question that stands by itself.
func question(
    _ kind: QuestionKind, key: String = "q", options: [String] = [], exclusive: Set<String> = [],
    required: Bool = false,
    skippable: Bool = false, declinable: Bool = false, _ constraints: Constraints = Constraints()
) -> Question {
    Question(
        key: key, slug: nil, section: "s", kind: kind, text: "?", help: nil, required: required, skippable: skippable,
        declinable: declinable, suggestion: nil, presentation: kind.presentations[0], constraints: constraints,
        options: options.map { .init(key: $0, label: $0, exclusive: exclusive.contains($0), score: [:]) }, weights: [:])
}

func limits(_ change: (inout Constraints) -> Void) -> Constraints {
    var constraints = Constraints()
    change(&constraints)
    return constraints
}

/// The canonical form, or the code of the refusal.
enum Verdict: Equatable, ExpressibleByStringLiteral {
    case taken(JSONValue), refused(String)
    init(stringLiteral value: String) { self = .refused(value) }
}

func judge(_ value: JSONValue, by question: Question, on day: String = "2026-03-01") -> Verdict {
    guard let today = CivilDate(day) else { return "no date" }
    do throws(AnswerProblem) {
        return .taken(try AnswerValidator(question: question, today: today).canonical(value))
    } catch {
        return .refused(error.code)
    }
}

@Suite("answers by type") struct AnswerValidatorTests {
    /// Everything that is no answer to anything but its own kind.
    static let oddities: [JSONValue] = [.null, true, 1, 0.5, "x", [], ["x"], [:], ["unit": "in", "value": 60], [[]]]

    @Test("a value of another type is never taken", arguments: QuestionKind.allCases)
    func oddity(kind: QuestionKind) {
        let allowed: [QuestionKind: Set<JSONValue>] = [
            .number: [1, 0.5], .boolean: [true], .text: ["x"], .height: [["unit": "in", "value": 60]],
            .slider: [1, 0.5],
        ]
        let one = question(kind, options: kind.hasOptions ? ["a", "b"] : [])
        for value in Self.oddities {
            if case .taken(let canonical) = judge(value, by: one) {
                #expect(allowed[kind]?.contains(value) == true && canonical == value, "\(value)")
            }
        }
    }

    @Test func canonicalFormsAreFixedPoints() {
        let cases: [(Question, JSONValue)] = [
            (question(.multiChoice, options: ["a", "b", "c"]), ["c", "a"]),
            (question(.slider, limits { ($0.min, $0.max) = (Thousandths(count: 0), Thousandths(count: 1000)) }), 0.25),
            (question(.height), ["unit": "cm", "value": 170]), (question(.text), "  Zoe\u{308}  "),
        ]
        for (question, value) in cases {
            guard case .taken(let canonical) = judge(value, by: question) else {
                Issue.record("\(value) is refused")
                continue
            }
            #expect(judge(canonical, by: question) == .taken(canonical))
        }
    }

    @Test func singleChoice() {
        let plain = question(.singleChoice, options: ["a", "b"])
        #expect(judge("b", by: plain) == .taken("b"))
        #expect(judge("c", by: plain) == "unknown_option")
        #expect(judge("B", by: plain) == "unknown_option")
        #expect(judge(["other": "x"], by: plain) == "not_allowed")
        let open = question(.singleChoice, options: ["a"], limits { ($0.otherCount, $0.otherLength) = (1, 3) })
        #expect(judge(["other": " é "], by: open) == .taken(["other": "é"]))
        #expect(judge(["other": "four"], by: open) == "too_long")
        #expect(judge(["other": " "], by: open) == "too_short")
        #expect(judge(["other": "a\nb"], by: open) == "malformed")
    }

    /// Every list of up to four of three options, against the rule in plain words.
    @Test(arguments: [(nil, nil), (2, nil), (nil, 2), (2, 2)] as [(Int?, Int?)])
    func multiChoiceAgainstAllLists(min: Int?, max: Int?) {
        let keys = ["a", "b", "none"]
        let one = question(
            .multiChoice, options: keys, exclusive: ["none"],
            limits {
                $0.min = min.map { Thousandths(count: Int64($0) * 1000) }
                $0.max = max.map { Thousandths(count: Int64($0) * 1000) }
            })
        var lists: [[String]] = [[]]
        for _ in 0..<4 { lists += lists.flatMap { list in keys.map { list + [$0] } } }
        for list in Set(lists) {
            let isSet = Set(list).count == list.count
            let isAllowed =
                isSet && list.count >= (min ?? 1) && list.count <= (max ?? 3)
                && (!list.contains("none") || list.count == 1)
            let verdict = judge(.array(list.map { .string($0) }), by: one)
            let sorted = JSONValue.array(keys.filter(list.contains).map { .string($0) })
            if isAllowed {
                #expect(verdict == .taken(sorted))
            } else if case .taken = verdict {
                Issue.record("\(list)")
            }
        }
    }

    @Test func entriesOfOnesOwnComeAfterTheOptions() {
        let one = question(.tags, options: ["a", "b"], limits { ($0.otherCount, $0.otherLength) = (2, 10) })
        #expect(
            judge([["other": "x"], "b", ["other": "w"], "a"], by: one)
                == .taken(["a", "b", ["other": "x"], ["other": "w"]]))
        #expect(judge([["other": "x"], ["other": " x"]], by: one) == "duplicate")
        #expect(judge([["other": "x"], ["other": "y"], ["other": "z"]], by: one) == "too_many")
        #expect(judge([["other": "x", "more": 1]], by: one) == "wrong_type")
        #expect(judge(.array(Array(repeating: ["other": "x"], count: 5000)), by: one) == "duplicate")
    }

    /// Every ordering of every subset of four, against "no option twice, and as many as wanted".
    @Test(arguments: [nil, 1, 2, 4] as [Int?])
    func rankingAgainstAllOrders(topK: Int?) {
        let keys = ["a", "b", "c", "d"]
        let one = question(.ranking, options: keys, limits { $0.topK = topK })
        var orders: [[String]] = [[]]
        for _ in 0..<4 { orders += orders.flatMap { order in keys.map { order + [$0] } } }
        for order in Set(orders) {
            let isAllowed = order.count == topK ?? 4 && Set(order).count == order.count
            let value = JSONValue.array(order.map { .string($0) })
            let verdict = judge(value, by: one)
            if isAllowed {
                #expect(verdict == .taken(value))
            } else if case .taken = verdict {
                Issue.record("\(order)")
            }
        }
        #expect(judge(.array(Array(repeating: "z", count: topK ?? 4)), by: one) == "unknown_option")
    }

    /// The grid counted out in whole thousandths, against each thousandth of the range and a little around it.
    @Test(arguments: [(0, 1000, 1), (-500, 500, 250), (100, 1300, 300), (1000, 10_000, 1000)])
    func sliderAgainstItsGrid(low: Int, high: Int, step: Int) throws {
        let one = question(
            .slider,
            limits {
                $0.min = Thousandths(count: Int64(low))
                $0.max = Thousandths(count: Int64(high))
                $0.step = Thousandths(count: Int64(step))
            })
        let grid = Set(stride(from: low, through: high, by: step))
        for count in (low - 2)...(high + 2) {
            // As a client writes it and as the reader reads it.
            let text = CanonicalJSON.bytes(of: .number(Double(count) / 1000))
            let verdict = judge(try JSONValue.parse(text), by: one)
            if grid.contains(count) {
                #expect(verdict == .taken(Thousandths(count: Int64(count)).json))
            } else {
                #expect(verdict == .refused(count < low ? "too_small" : count > high ? "too_large" : "off_grid"))
            }
        }
        #expect(judge(.number(Double(low) / 1000 + 0.0001), by: one) == "malformed")
    }

    @Test func equalNumbersHaveOneForm() {
        let one = question(.number)
        #expect(judge(.number(2), by: one) == .taken(2))
        #expect(judge(.number(-0.0), by: one) == .taken(0))
        #expect(judge(.number(0.1 + 0.2), by: one) == "malformed")
        #expect(judge(.number(1e300), by: one) == "malformed")
        #expect(judge(.integer(.min), by: one) == "malformed")
    }

    @Test func textsAreTrimmedComposedAndCountedInClusters() {
        let name = question(.text, limits { ($0.minLength, $0.maxLength, $0.pattern) = (2, 4, .personName) })
        #expect(judge("  Zoe\u{308} ", by: name) == .taken("Zoë"))
        #expect(judge("Zo", by: name) == .taken("Zo"))
        #expect(judge("Z", by: name) == "too_short")
        #expect(judge("Zoëea", by: name) == "too_long")
        #expect(judge("Zo3", by: name) == "malformed")
        #expect(judge("O’Hé", by: name) == .taken("O’Hé"))
        let free = question(.text, limits { $0.maxLength = 3 })
        #expect(judge("👨‍👩‍👧‍👦👨‍👩‍👧‍👦a", by: free) == .taken("👨‍👩‍👧‍👦👨‍👩‍👧‍👦a"))
        #expect(judge("a\nb", by: free) == .taken("a\nb"))
        #expect(judge("a\u{7}b", by: free) == "malformed")
        #expect(judge("a\u{202e}b", by: free) == "malformed")
        #expect(judge(.string(String(repeating: "\u{301}", count: 3000)), by: free) == "too_long")
        let digits = question(.text, limits { $0.pattern = .digits })
        #expect(judge("0123", by: digits) == .taken("0123"))
        #expect(judge("١٢", by: digits) == "malformed")
    }

    @Test func datesKeepToTheirBoundsAndAges() {
        let plain = question(
            .date,
            limits {
                $0.earliest = CivilDate("2020-01-01"); $0.latest = CivilDate("2020-12-31")
            })
        #expect(judge("2020-01-01", by: plain) == .taken("2020-01-01"))
        #expect(judge("2019-12-31", by: plain) == "too_small")
        #expect(judge("2021-01-01", by: plain) == "too_large")
        #expect(judge("2020-02-30", by: plain) == "malformed")
        #expect(judge("2020-1-1", by: plain) == "malformed")
        let adult = question(.date, limits { ($0.minAge, $0.maxAge) = (18, 120) })
        #expect(judge("2008-03-01", by: adult) == .taken("2008-03-01"))
        #expect(judge("2008-03-02", by: adult) == "too_young")
        #expect(judge("1905-03-02", by: adult) == .taken("1905-03-02"))
        #expect(judge("1905-03-01", by: adult) == "too_old")
        #expect(judge("2008-02-29", by: adult, on: "2026-02-28") == "too_young")
        #expect(judge("2008-02-29", by: adult, on: "2026-03-01") == .taken("2008-02-29"))
    }

    /// Every centimetre, against the nearest inch by distance.
    @Test func heights() {
        let one = question(.height)
        for centimetres in 100...260 {
            let nearest = (30...110).min {
                abs(Double($0) * 2.54 - Double(centimetres)) < abs(Double($1) * 2.54 - Double(centimetres))
            }
            let verdict = judge(["unit": "cm", "value": .integer(Int64(centimetres))], by: one)
            if let nearest, (48...95).contains(nearest) {
                #expect(verdict == .taken(["unit": "in", "value": .integer(Int64(nearest))]))
            } else {
                #expect(verdict == "not_allowed")
            }
        }
        #expect(judge(["unit": "in", "value": 60.5], by: one) == "malformed")
        #expect(judge(["unit": "m", "value": 2], by: one) == "malformed")
        #expect(judge(66, by: one) == "wrong_type")
    }

    @Test func anInfoScreenTakesNoValue() {
        for value in Self.oddities { #expect(judge(value, by: question(.info)) == "no_value") }
    }
}
