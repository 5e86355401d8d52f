import Foundation
import TestSupport
import Testing

@testable import VisualPreferenceService

/// People who follow their weights with noise, and people who toss a coin.
@Suite struct SimulatedPeopleTests {
    private static let set = try! StimulusSet(StimulusSet.shipped.get())

    private struct Person {
        var generator: SeededGenerator
        let utilities: [Double]

        init(_ number: Int) {
            generator = SeededGenerator(seed: UInt64(number) &* 77 &+ 5)
            var weights: [Double] = []
            for _ in SimulatedPeopleTests.set.attributes {
                let (first, second) = (
                    Double.random(in: 1e-12..<1, using: &generator), Double.random(in: 0..<1, using: &generator)
                )
                weights.append((-2 * log(first)).squareRoot() * cos(2 * .pi * second))
            }
            utilities = SimulatedPeopleTests.utilities(by: weights)
        }

        mutating func choose(_ comparison: Comparison) -> Side {
            let difference = utilities[comparison.left] - utilities[comparison.right]
            return Double.random(in: 0..<1, using: &generator) < 1 / (1 + exp(-difference)) ? .left : .right
        }

        mutating func toss() -> Side { Bool.random(using: &generator) ? .left : .right }
    }

    private static func utilities(by weights: [Double]) -> [Double] {
        set.levels.map { zip($0, weights).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    private static func session(_ seed: Int, _ choose: (Comparison) -> Side) -> [Comparison] {
        let plan = PairPlan(items: set.levels, ridge: Capture.ridge, seed: UInt64(seed) &* 1_234_567 &+ 99)
        var answered: [Comparison] = []
        while CaptureVerdict(answered) == .open {
            answered += plan.next(after: answered).map { shown in
                var comparison = shown
                comparison.choice = choose(shown)
                return comparison
            }
        }
        return answered
    }

    /// Kendall's rank correlation.
    private static func tau(_ first: [Double], _ second: [Double]) -> Double {
        var (sum, pairs) = (0.0, 0.0)
        for one in first.indices {
            for other in 0..<one {
                let product = (first[one] - first[other]) * (second[one] - second[other])
                pairs += 1
                if product != 0 { sum += product > 0 ? 1 : -1 }
            }
        }
        return sum / pairs
    }

    @Test("honest people become ready and coin-tossers do not")
    func simulated() {
        let count = Rounds.count(12, prove: 1000)
        var (ready, insufficient, chosen, random) = (0, 0, 0.0, 0.0)
        for number in 0..<count {
            var person = Person(number)
            let answered = Self.session(number) { person.choose($0) }
            if CaptureVerdict(answered) == .ready { ready += 1 }
            if CaptureVerdict(Self.session(number) { _ in person.toss() }) == .insufficient { insufficient += 1 }
            let fit = PreferenceFit(
                Array(answered.prefix(PairPlan.total)), items: Self.set.levels, ridge: Capture.ridge)
            chosen += Self.tau(person.utilities, Self.utilities(by: fit.weights))
            let pairs = (0..<PairPlan.total).map { _ in
                let left = Int.random(in: 0..<40, using: &person.generator)
                let right = (left + Int.random(in: 1..<40, using: &person.generator)) % 40
                var comparison = Comparison(left: left, right: right, purpose: .informative)
                comparison.choice = person.choose(comparison)
                return comparison
            }
            let other = PreferenceFit(pairs, items: Self.set.levels, ridge: Capture.ridge)
            random += Self.tau(person.utilities, Self.utilities(by: other.weights))
        }
        let people = Double(count)
        print(
            "ready \(ready), insufficient \(insufficient) of \(count); tau \(chosen / people), random \(random / people)"
        )
        #expect(chosen / people >= 0.65)
        guard count >= 1000 else {
            #expect(Double(ready) >= 0.85 * people && Double(insufficient) >= 0.8 * people)
            return
        }
        #expect(Double(ready) >= 0.95 * people && Double(insufficient) >= 0.93 * people)
        #expect(chosen / people >= random / people + 0.05)
    }

    @Test("sides and items are shown evenly and pairs follow the seed") func isEven() {
        let count = Rounds.count(30, prove: 2000)
        var (exposures, lefts) = ([Int](repeating: 0, count: 40), [Int](repeating: 0, count: 40))
        for number in 0..<count {
            var person = Person(number)
            let answered = Self.session(number) { person.choose($0) }.prefix(PairPlan.total)
            for comparison in answered {
                exposures[comparison.left] += 1
                exposures[comparison.right] += 1
                lefts[comparison.left] += 1
            }
            let pairs = answered.filter { $0.purpose != .repeat }.map(\.pair)
            #expect(Set(pairs).count == pairs.count)
        }
        #expect(Double(exposures.max() ?? 0) <= 0.15 * Double(count * PairPlan.total))
        let (all, left) = (Double(exposures.reduce(0, +)), Double(lefts.reduce(0, +)))
        #expect(all == 2 * left)
        for (exposure, left) in zip(exposures, lefts) {
            // Forty items are looked at, so one may be beyond three standard deviations in a small count.
            #expect(
                abs(Double(left) - Double(exposure) / 2) <= (count < 2000 ? 5 : 3) * (Double(exposure) / 4).squareRoot()
            )
        }
        let plan = PairPlan(items: Self.set.levels, ridge: 1, seed: 42)
        #expect(plan.next(after: []) == plan.next(after: []) && plan.next(after: []).count == PairPlan.batch)
    }

    @Test("one-sided and too fast answers are flagged") func flags() {
        var answered = Self.session(1) { _ in .left }
        #expect(CaptureVerdict(answered) == .insufficient && AnswerFlag.all(in: answered) == [.oneSide])
        for place in answered.indices { answered[place].latencyMs = 100 }
        #expect(AnswerFlag.all(in: answered) == [.tooFast, .oneSide])
        let fit = PreferenceFit(answered, items: Self.set.levels, ridge: 1)
        #expect(fit.sideBias > 1)
    }
}
