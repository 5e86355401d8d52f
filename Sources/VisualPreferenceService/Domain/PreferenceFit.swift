import Foundation

/// The fit of one person's choices to the attributes of the items.
///
/// The fit has a weight for each attribute, one for being on the left, and one for choosing neither item. It leaves the
/// last one out until the person has chosen neither for the first time.
struct PreferenceFit: Sendable {
    let items: [[Double]]
    let fit: ChoiceFit
    private let hasOutside: Bool
    /// The utility of each item to the person, without regard to its side.
    private let utilities: [Double]

    init(_ answered: [Comparison], items: [[Double]], ridge: Double) {
        self.items = items
        let hasOutside = answered.contains { $0.choice == .neither }
        self.hasOutside = hasOutside
        let choices = answered.compactMap { comparison in
            comparison.choice.map {
                ObservedChoice(
                    alternatives: Self.alternatives(comparison.left, comparison.right, of: items, hasOutside),
                    chosen: $0.place)
            }
        }
        let fit = ChoiceFit(choices, size: (items.first?.count ?? 0) + (hasOutside ? 2 : 1), ridge: ridge)
        self.fit = fit
        utilities = items.map { zip($0, fit.weights).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    /// The weights of the attributes alone.
    var weights: [Double] { Array(fit.weights.prefix(attributes)) }
    /// How much being on the left adds.
    var sideBias: Double { fit.weights[attributes] }
    /// The standard error of each attribute's weight.
    var standardErrors: [Double] { (0..<attributes).map { fit.covariance[$0, $0].squareRoot() } }

    /// The share of the uncertainty before the first answer that is gone, from 0 to 1.
    func confidence(ridge: Double) -> Double {
        let left = (0..<attributes).reduce(0) { $0 + fit.covariance[$1, $1] }
        return min(max(1 - left * ridge / Double(max(attributes, 1)), 0), 1)
    }

    private var attributes: Int { items.first?.count ?? 0 }

    /// The difference of two items with the side, as the fit sees it.
    func difference(_ left: Int, _ right: Int) -> [Double] {
        zip(items[left], items[right]).map { $0 - $1 } + (hasOutside ? [1, 0] : [1])
    }

    /// The probability that the person chooses each of two items, without regard to its side. The rest up to 1 is the
    /// probability of neither.
    func probabilities(_ left: Int, _ right: Int) -> (left: Double, right: Double) {
        let outside = hasOutside ? fit.weights[attributes + 1] : -.infinity
        let best = max(utilities[left], utilities[right], outside)
        let (first, second) = (exp(utilities[left] - best), exp(utilities[right] - best))
        let sum = first + second + exp(outside - best)
        return (first / sum, second / sum)
    }

    private static func alternatives(
        _ left: Int, _ right: Int, of items: [[Double]], _ hasOutside: Bool
    ) -> [[Double]] {
        guard hasOutside else { return [items[left] + [0.5], items[right] + [-0.5]] }
        let outside = [Double](repeating: 0, count: items[left].count + 1) + [1]
        return [items[left] + [0.5, 0], items[right] + [-0.5, 0], outside]
    }
}

extension Side {
    /// The place of the choice among the alternatives of the fit.
    fileprivate var place: Int {
        switch self {
        case .left: 0
        case .right: 1
        case .neither: 2
        }
    }
}
