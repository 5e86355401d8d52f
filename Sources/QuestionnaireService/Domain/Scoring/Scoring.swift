import Documents
import JSONText

/// Calculates the scores of a session in the definition's dimensions. It calculates in whole millionths, so that every
/// machine gets the same scores.
struct Scoring {
    let sheet: AnswerSheet

    static let one: Int64 = 1_000_000

    /// For each dimension: `{"score": n | null, "answered": n, "of": n}`, or `{"tags": {question: [key]}, …}`.
    ///
    /// Questions without an answer are left out of the mean. They do not count as 0.
    var result: JSONValue {
        .object(Dictionary(sheet.definition.dimensions.map { ($0.key, score($0)) }, uniquingKeysWith: { a, _ in a }))
    }

    private func score(_ dimension: Dimension) -> JSONValue {
        let asked = sheet.visible.filter { $0.weights[dimension.key] != nil }
        let answered = asked.compactMap { question in
            question.effectiveValue.map { (question: question.question, value: $0) }
        }
        var members: [String: JSONValue] = [:]
        switch dimension.method {
        case .weightedMean:
            let parts = answered.compactMap { part in
                share(part.value, of: part.question, in: dimension.key).map { (part.question, $0) }
            }
            members = ["answered": .integer(Int64(parts.count)), "of": .integer(Int64(asked.count))]
            members["score"] = parts.count < max(1, dimension.minAnswered) ? .null : mean(parts, dimension)
        case .tagVector:
            members = ["answered": .integer(Int64(answered.count)), "of": .integer(Int64(asked.count))]
            members["tags"] = .object(
                Dictionary(answered.map { ($0.question.key, $0.value) }, uniquingKeysWith: { a, _ in a }))
        }
        return .object(members)
    }

    private func mean(_ parts: [(question: Question, share: Int64)], _ dimension: Dimension) -> JSONValue {
        var (sum, total) = (Int64(0), Int64(0))
        for part in parts {
            let weight = part.question.weights[dimension.key]?.count ?? 0
            sum += weight * part.share
            total += weight
        }
        let mean = (sum + total / 2) / total
        let scaled = (dimension.high - dimension.low) * 1000 * mean
        return Thousandths(count: dimension.low * 1000 + (scaled + Self.one / 2) / Self.one).json
    }

    /// The share of a dimension that an answer gives: 0 to ``one``; `nil` if the answer does not count towards it.
    private func share(_ value: JSONValue, of question: Question, in dimension: String) -> Int64? {
        switch question.kind {
        case .singleChoice: return weightedMean([(value, 1)], of: question, in: dimension)
        case .multiChoice, .tags:
            return weightedMean((value.arrayValue ?? []).map { ($0, 1) }, of: question, in: dimension)
        case .ranking:
            // Of n options, the first has the weight n - 1 and the last has 0.
            let ranked = value.arrayValue ?? []
            let places = ranked.enumerated().map { ($1, Int64(question.options.count - 1 - $0)) }
            return weightedMean(places, of: question, in: dimension)
        case .slider:
            guard let number = Thousandths(value), let low = question.constraints.min,
                let high = question.constraints.max
            else { return nil }
            return (number.count - low.count) * Self.one / (high.count - low.count)
        default: return nil
        }
    }

    private func weightedMean(_ chosen: [(JSONValue, Int64)], of question: Question, in dimension: String) -> Int64? {
        var (sum, total) = (Int64(0), Int64(0))
        for (key, weight) in chosen {
            let option = question.options.first { .string($0.key) == key }
            guard let score = option?.score[dimension] else { continue }
            sum += score.count * 1000 * weight
            total += weight
        }
        return total == 0 ? nil : (sum + total / 2) / total
    }
}
