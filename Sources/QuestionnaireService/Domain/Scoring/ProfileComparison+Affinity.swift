import BusProtocol
import JSONText

extension ProfileComparison {
    /// A person's answer to a question, and the answers that they accept.
    private struct Stance {
        let chosen: Set<JSONValue>
        let preference: AnswerPreference

        /// Whether this person accepts everything that the other chose.
        func accepts(_ other: Stance) -> Bool {
            other.chosen.isSubset(of: preference.acceptable.map { .string($0) })
        }
    }

    /// How well each person's answers match the preferences of the other.
    ///
    /// It uses the questions to which both gave an answer and a preference. It is the geometric mean of both
    /// satisfactions, less a margin for chance with few questions.
    ///
    /// - Returns: `nil` if there is no such question.
    var affinity: Likeness? {
        let questions = Set(wants(of: first)).union(wants(of: second))
        let shared = questions.sorted().compactMap { key -> (Stance, Stance)? in
            guard let a = stance(key, of: first), let b = stance(key, of: second) else { return nil }
            return (a, b)
        }
        guard !shared.isEmpty else { return nil }
        let count = Int64(shared.count)
        let product = satisfaction(shared) * satisfaction(shared.map { ($1, $0) })
        let score = max(0, Self.squareRoot(product) - (Scoring.one + count / 2) / count)
        return Likeness(
            score: Self.percent(score), coverage: Self.percent(count * Scoring.one / Int64(questions.count)),
            compared: count)
    }

    private func wants(of side: Side) -> [String] {
        side.definition.questions.filter { !$0.importances.isEmpty }.map(\.key)
    }

    private func stance(_ question: String, of side: Side) -> Stance? {
        guard let answer = side.answers[question], let value = answer["value"],
            let preference = answer["preference"].flatMap({ AnswerPreference($0) })
        else { return nil }
        return Stance(chosen: Set(value.arrayValue ?? [value]), preference: preference)
    }

    /// The share of the first person's importance that the second person's answers meet: 0 to ``Scoring/one``. If
    /// nothing is important to the first person, it is ``Scoring/one``.
    private func satisfaction(_ pairs: [(Stance, Stance)]) -> Int64 {
        let possible = pairs.reduce(0) { $0 + $1.0.preference.importance }
        let earned = pairs.reduce(0) { $0 + ($1.0.accepts($1.1) ? $1.0.preference.importance : 0) }
        return possible == 0 ? Scoring.one : (earned * Scoring.one + possible / 2) / possible
    }

    /// The square root, rounded down.
    static func squareRoot(_ number: Int64) -> Int64 {
        var root = Int64(Double(number).squareRoot())
        while root * root > number { root -= 1 }
        while (root + 1) * (root + 1) <= number { root += 1 }
        return root
    }
}
