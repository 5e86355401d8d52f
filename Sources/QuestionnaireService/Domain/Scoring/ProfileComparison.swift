import BusProtocol
import Documents
import JSONText

/// Compares the scores of two people. It calculates in whole millionths, and the order of the people does not matter.
struct ProfileComparison {
    /// One person's scores, and the definition by which they were calculated.
    struct Side {
        let scores: JSONValue
        let definition: Definition
        /// The answers in the same snapshot as the scores, by place.
        var answers: JSONValue = [:]
    }

    let first: Side
    let second: Side
    /// The traits of both people, for the wishes that each has about the other.
    var traits: [WishedTraits] = []

    /// The mean closeness of the scores, over the dimensions in which both have one.
    var psychological: Likeness {
        let dimensions = keys(.weightedMean)
        let parts = dimensions.compactMap { key -> Int64? in
            guard let a = share(key, of: first), let b = share(key, of: second) else { return nil }
            return Scoring.one - abs(a - b)
        }
        return likeness(parts, of: dimensions.count)
    }

    /// The mean over the questions with tags. If the traits of the people are known, a question gives the share of the
    /// known wishes that the other person meets. Any other question that both answered gives the overlap of both sets
    /// of tags (intersection over union).
    var physical: Likeness {
        let questions = Set(questions(of: first)).union(questions(of: second))
        let parts = questions.sorted().compactMap { key -> Int64? in
            let (a, b) = (tags(key, of: first), tags(key, of: second))
            if let told = traits.first(where: { $0.question == key }) {
                let met = [meets(told.second, a, key, of: first), meets(told.first, b, key, of: second)]
                    .compactMap(\.self)
                return met.isEmpty ? nil : Int64(met.count { $0 }) * Scoring.one / Int64(met.count)
            }
            guard !a.isEmpty, !b.isEmpty else { return nil }
            return Int64(a.intersection(b).count) * Scoring.one / Int64(a.union(b).count)
        }
        var likeness = likeness(parts, of: questions.count)
        if likeness.score != nil { likeness.compared = Int64(parts.count) }
        return likeness
    }

    /// Whether a person with these traits meets the other's wish; `nil` if the traits or the wish are not known. A
    /// person who chose the exclusive option has no wish, so everybody meets it.
    private func meets(_ traits: [String], _ wished: Set<JSONValue>, _ question: String, of side: Side) -> Bool? {
        guard !traits.isEmpty, !wished.isEmpty else { return nil }
        let options = side.definition.questions.first { $0.key == question }?.options ?? []
        return !wished.isDisjoint(with: (traits + options.filter(\.exclusive).map(\.key)).map { .string($0) })
    }

    private func keys(_ method: Dimension.Method) -> Set<String> {
        func keys(_ side: Side) -> [String] { side.definition.dimensions.filter { $0.method == method }.map(\.key) }
        return Set(keys(first)).union(keys(second))
    }

    private func questions(of side: Side) -> [String] {
        let vectors = side.definition.dimensions.filter { $0.method == .tagVector }.map(\.key)
        return side.definition.questions.filter { question in vectors.contains { question.weights[$0] != nil } }
            .map(\.key)
    }

    /// The position of a score in the dimension's range: 0 to ``Scoring/one``.
    private func share(_ key: String, of side: Side) -> Int64? {
        guard let dimension = side.definition.dimensions.first(where: { $0.key == key }),
            let score = side.scores[key]?["score"].flatMap({ Thousandths($0) })
        else { return nil }
        let range = (dimension.high - dimension.low) * 1000
        return (score.count - dimension.low * 1000) * Scoring.one / range
    }

    private func tags(_ question: String, of side: Side) -> Set<JSONValue> {
        for dimension in side.definition.dimensions where dimension.method == .tagVector {
            if let tags = side.scores[dimension.key]?["tags"]?[question]?.arrayValue { return Set(tags) }
        }
        return []
    }

    static func percent(_ millionths: Int64) -> Double { Thousandths(count: (millionths + 5) / 10).double }

    private func likeness(_ parts: [Int64], of total: Int) -> Likeness {
        guard total > 0, !parts.isEmpty else { return Likeness(score: nil, coverage: 0) }
        let count = Int64(parts.count)
        return Likeness(
            score: Self.percent((parts.reduce(0, +) + count / 2) / count),
            coverage: Self.percent(count * Scoring.one / Int64(total)))
    }
}
