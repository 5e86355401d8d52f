import BusProtocol

/// Rounds the result of a comparison before two people see it. Nobody can infer an answer from the figures.
enum CompatibilityFigure {
    static let step = 5.0
    /// A figure over fewer questions would reveal single answers: with one tag each, it is all or nothing. The
    /// psychological figure needs no such limit, since it compares means over many questions.
    static let fewestQuestions: Int64 = 4

    static func rounded(_ compared: ProfilesCompared) -> Compatibility {
        let parts: [(key: String, likeness: Likeness?)] = [
            ("psychological", compared.psychological), ("physical", shown(compared.physical)),
            ("affinity", compared.affinity.flatMap(shown)),
        ]
        let known = parts.compactMap { part in
            part.likeness.flatMap { likeness in likeness.score.map { (part.key, score: $0, likeness.coverage) } }
        }
        guard !known.isEmpty else { return Compatibility(dimensions: [], confidence: 0) }
        return Compatibility(
            score: rounded(known.reduce(0) { $0 + $1.score } / Double(known.count)),
            dimensions: known.map { CompatibilityDimension(key: $0.0, score: rounded($0.score)) },
            confidence: rounded(known.reduce(0) { $0 + $1.2 } / Double(parts.count)))
    }

    private static func shown(_ likeness: Likeness) -> Likeness? {
        likeness.compared ?? 0 >= fewestQuestions ? likeness : nil
    }

    /// To the nearest step.
    private static func rounded(_ percent: Double) -> Int64 { Int64((percent / step).rounded() * step) }
}
