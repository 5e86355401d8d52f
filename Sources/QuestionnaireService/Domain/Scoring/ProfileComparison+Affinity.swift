import BusProtocol
import JSONText

extension ProfileComparison {
    /// What somebody answered to a question, and wants of the other.
    private struct Stance {
        let chosen: Set<JSONValue>
        let preference: AnswerPreference

        /// Whether everything that the other chose will do.
        func accepts(_ other: Stance) -> Bool {
            other.chosen.isSubset(of: preference.acceptable.map { .string($0) })
        }
    }

    /// How well each one's answers suit what the other wants, over the questions to which both said both: the geometric mean of
    /// what of the importance each of them gets, less what chance may have made of so few questions.
    ///
    /// - Returns: `nil` where there is no such question.
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
            score: Self.percent(score), coverage: Self.percent(count * Scoring.one / Int64(questions.count)))
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

    /// Of the importance of all to the first of each pair, the share that the second one meets: 0 to ``Scoring/one``. To whom
    /// nothing matters, everybody will do.
    private func satisfaction(_ pairs: [(Stance, Stance)]) -> Int64 {
        let possible = pairs.reduce(0) { $0 + $1.0.preference.importance }
        let earned = pairs.reduce(0) { $0 + ($1.0.accepts($1.1) ? $1.0.preference.importance : 0) }
        return possible == 0 ? Scoring.one : (earned * Scoring.one + possible / 2) / possible
    }

    /// Rounded down.
    static func squareRoot(_ number: Int64) -> Int64 {
        var root = Int64(Double(number).squareRoot())
        while root * root > number { root -= 1 }
        while (root + 1) * (root + 1) <= number { root += 1 }
        return root
    }
}
