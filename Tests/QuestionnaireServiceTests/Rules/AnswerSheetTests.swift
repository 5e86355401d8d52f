import BusProtocol
import Documents
import JSONText
import Testing

@testable import QuestionnaireService

/// A definition out of questions, without a file.
func definition(_ questions: [Question], dimensions: [Dimension] = []) -> Definition {
    Definition(
        key: "test", version: 1, hash: Array(repeating: 7, count: 32), canonicalText: [], language: "en",
        translations: [:],
        dimensions: dimensions, sections: [.init(key: "s", questions: 0..<questions.count)], questions: questions)
}

/// The day that the tests count ages on.
let testDay = CivilDate(year: 2026, month: 3, day: 1)!

func answer(_ state: AnswerState, _ value: JSONValue? = nil, revision: Int64 = 1) -> Answer {
    Answer(state: state, value: value, revision: revision, changedAt: Timestamp(microsecondsSinceEpoch: 0))
}

@Suite("progress and what comes next") struct AnswerSheetTests {
    static let questions = [
        question(.info, key: "hello"),
        question(.boolean, key: "must", required: true),
        question(.boolean, key: "mustOrDecline", required: true, declinable: true),
        question(.boolean, key: "may", skippable: true, declinable: true),
    ]

    /// Every combination of states of four questions, against the rules in plain words.
    @Test func allCombinations() {
        let states: [AnswerState?] = [nil, .answered, .skipped, .declined, .acknowledged]
        for code in 0..<625 {
            let chosen = [code % 5, code / 5 % 5, code / 25 % 5, code / 125].map { states[$0] }
            var answers: [String: Answer] = [:]
            for (question, state) in zip(Self.questions, chosen) {
                answers[question.key] = state.map { answer($0, $0 == .answered ? true : nil) }
            }
            let sheet = AnswerSheet(definition: definition(Self.questions), answers: answers, today: testDay)
            let isDone = [
                chosen[1] == .answered, chosen[2] == .answered || chosen[2] == .declined, chosen[3] != nil,
            ]
            let dealtWith = isDone.count { $0 }
            let missing = isDone[..<2].count { !$0 }
            let progress = sheet.progress
            #expect(progress.answered == Int64(dealtWith) && progress.total == 3)
            #expect(progress.requiredRemaining == Int64(missing))
            #expect((progress.percentage == 100) == (sheet.next == nil), "X is Y only when nothing comes next")
            let next = (1..<4).first { !isDone[$0 - 1] }
            #expect(sheet.next?.key == next.map { Self.questions[$0].key })
        }
    }

    @Test func aScreenBehindTheLastQuestionIsShownAtTheEnd() {
        let questions = [
            question(.info, key: "hello"), question(.boolean, key: "must", required: true),
            question(.info, key: "review"), question(.info, key: "bye"),
        ]
        func closing(_ states: [String: AnswerState]) -> [String] {
            let sheet = AnswerSheet(
                definition: definition(questions),
                answers: states.mapValues { answer($0, $0 == .answered ? true : nil) }, today: testDay)
            return sheet.closing(where: sheet.next)
        }
        #expect(closing([:]) == [], "something is asked yet")
        #expect(closing(["must": .answered]) == ["review", "bye"])
        #expect(closing(["must": .answered, "review": .acknowledged]) == ["bye"])
        #expect(closing(["must": .answered, "review": .acknowledged, "bye": .acknowledged]) == [])
    }

    @Test func percentageIsRoundedDown() {
        let many = (0..<3).map { question(.boolean, key: "q\($0)") }
        let sheet = AnswerSheet(
            definition: definition(many), answers: ["q0": answer(.answered, true), "q1": answer(.skipped)],
            today: testDay)
        #expect(sheet.progress.percentage == 66)
    }
}

@Suite("scores") struct ScoringTests {
    static func scored(_ kind: QuestionKind, key: String, _ scores: [(String, Int64)]) -> Question {
        let plain = question(kind, key: key)
        return Question(
            key: key, slug: nil, section: "s", kind: kind, text: "?", help: nil, required: false, skippable: true,
            declinable: false, suggestion: nil, presentation: plain.presentation,
            constraints: kind == .slider
                ? limits { ($0.min, $0.max) = (Thousandths(count: 0), Thousandths(count: 10_000)) } : Constraints(),
            options: scores.map {
                .init(key: $0.0, label: $0.0, exclusive: false, score: ["d": Thousandths(count: $0.1)])
            }, weights: ["d": Thousandths(count: 1000)])
    }

    static let dimension = Dimension(key: "d", method: .weightedMean, low: 0, high: 100, minAnswered: 2)
    static let questions = [
        scored(.singleChoice, key: "one", [("a", 1000), ("b", 250)]),
        scored(.multiChoice, key: "two", [("a", 1000), ("b", 0)]),
        scored(.ranking, key: "three", [("a", 1000), ("b", 500), ("c", 0)]),
        scored(.slider, key: "four", []),
    ]

    static func score(_ answers: [String: JSONValue]) -> JSONValue {
        let sheet = AnswerSheet(
            definition: definition(questions, dimensions: [dimension]),
            answers: answers.mapValues { answer(.answered, $0) }, today: testDay)
        return Scoring(sheet: sheet).result["d"] ?? .null
    }

    @Test func aScoreIsTheMeanOfTheAnswers() {
        // 0.25, 0.5, (2·1 + 1·0.5 + 0·0) / 3, 0.7
        let all = Self.score(["one": "b", "two": ["a", "b"], "three": ["a", "b", "c"], "four": 7])
        #expect(all == ["score": 57.083, "answered": 4, "of": 4])
        #expect(Self.score(["one": "a", "four": 10]) == ["score": 100, "answered": 2, "of": 4])
        #expect(Self.score(["one": "b", "four": 0]) == ["score": 12.5, "answered": 2, "of": 4])
    }

    @Test func aScoreIsNullWithTooFewAnswers() {
        #expect(Self.score(["one": "a"]) == ["score": nil, "answered": 1, "of": 4])
        #expect(Self.score([:]) == ["score": nil, "answered": 0, "of": 4])
    }
}
