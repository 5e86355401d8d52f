import BusProtocol
import JSONText

/// The result of a visual session, which is empty until the session is ready, and the flags of its answers.
struct CaptureResult: Sendable {
    private(set) var confidence: Double?
    private(set) var attributes: [VisualAttribute] = []
    let flags: [AnswerFlag]

    init(_ capture: Capture) {
        let comparisons = capture.comparisons
        flags = AnswerFlag.all(in: comparisons)
        guard capture.status == .ready else { return }
        let fit = PreferenceFit(comparisons, items: capture.set.levels, ridge: capture.ridge)
        confidence = Self.rounded(fit.confidence(ridge: capture.ridge))
        attributes = zip(capture.set.attributes, zip(fit.weights, fit.standardErrors)).map {
            VisualAttribute(key: $0, weight: Self.rounded($1.0), standardError: Self.rounded($1.1))
        }
    }

    /// Six decimals, so that processors that round differently give the same bytes.
    private static func rounded(_ value: Double) -> Double { (value * 1_000_000).rounded() / 1_000_000 }
}

extension VisualAttribute {
    /// The form in the table.
    var json: JSONValue { ["key": .string(key), "weight": .number(weight), "standardError": .number(standardError)] }
}
