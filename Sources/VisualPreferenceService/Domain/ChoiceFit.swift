import Foundation

/// One choice among alternatives. Each alternative is described by the same number of values.
struct ObservedChoice: Sendable {
    let alternatives: [[Double]]
    /// The place of the chosen alternative.
    let chosen: Int
}

/// The weights that explain a person's choices best, with a ridge: a conditional logit fitted by Newton's method.
///
/// It minimises −Σ log p(chosen) + ½ · ridge · |weights|². With a ridge above 0 there is exactly one minimum, also for data
/// that a plane separates.
struct ChoiceFit: Sendable {
    let weights: [Double]
    /// The inverse of the Hessian at the minimum. With a ridge it understates how far the weights are from the truth.
    let covariance: SymmetricMatrix
    /// The steps that were needed. After `mostIterations` the fit stops.
    let iterations: Int

    static let mostIterations = 30
    private static let tolerance = 1e-11

    /// - Parameters:
    ///   - size: the number of values of an alternative.
    ///   - ridge: above 0.
    init(_ choices: [ObservedChoice], size: Int, ridge: Double) {
        var weights = [Double](repeating: 0, count: size)
        var slope = Slope(choices, at: weights, ridge: ridge)
        var iterations = 0
        while iterations < Self.mostIterations, slope.steepness > Self.tolerance {
            iterations += 1
            let step = slope.hessian.solution(of: slope.gradient)
            var length = 1.0
            // Far from the minimum a whole step may lead up. Near it, rounding hides the last descent.
            while true {
                let next = zip(weights, step).map { $0 - length * $1 }
                let there = Slope(choices, at: next, ridge: ridge)
                if there.loss <= slope.loss || there.steepness < slope.steepness || length < 1e-6 {
                    (weights, slope) = (next, there)
                    break
                }
                length /= 2
            }
        }
        (self.weights, covariance, self.iterations) = (weights, slope.hessian.inverse, iterations)
    }

    /// The probability of each alternative by some weights.
    static func probabilities(of alternatives: [[Double]], by weights: [Double]) -> [Double] {
        let utilities = alternatives.map { zip($0, weights).reduce(0) { $0 + $1.0 * $1.1 } }
        let best = utilities.max() ?? 0
        let powers = utilities.map { exp($0 - best) }
        let sum = powers.reduce(0, +)
        return powers.map { $0 / sum }
    }
}

/// The loss at some weights, with its first and second derivatives.
private struct Slope {
    private(set) var loss: Double
    private(set) var gradient: [Double]
    private(set) var hessian: SymmetricMatrix

    /// The largest part of the gradient.
    var steepness: Double { gradient.reduce(0) { max($0, abs($1)) } }

    init(_ choices: [ObservedChoice], at weights: [Double], ridge: Double) {
        loss = 0.5 * ridge * weights.reduce(0) { $0 + $1 * $1 }
        gradient = weights.map { ridge * $0 }
        hessian = SymmetricMatrix(size: weights.count, diagonal: ridge)
        for choice in choices { add(choice, at: weights) }
    }

    private mutating func add(_ choice: ObservedChoice, at weights: [Double]) {
        let probabilities = ChoiceFit.probabilities(of: choice.alternatives, by: weights)
        loss -= log(max(probabilities[choice.chosen], .leastNonzeroMagnitude))
        var mean = [Double](repeating: 0, count: weights.count)
        for (alternative, probability) in zip(choice.alternatives, probabilities) {
            for index in mean.indices { mean[index] += probability * alternative[index] }
            hessian.add(alternative, times: probability)
        }
        hessian.add(mean, times: -1)
        for index in gradient.indices { gradient[index] += mean[index] - choice.alternatives[choice.chosen][index] }
    }
}
