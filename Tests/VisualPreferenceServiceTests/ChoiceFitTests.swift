import Foundation
import JSONText
import TestSupport
import Testing

@testable import VisualPreferenceService

@Suite struct ChoiceFitTests {
    /// A data set with the weights that choix or scipy found: see `scripts/choice-fixtures`.
    private static func fixtures(_ name: String) throws -> [JSONValue] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/fits.json")
        let limits = JSONLimits(depth: 24, values: 1_000_000)
        return try JSONValue.parse(Array(Data(contentsOf: file)), limits: limits)[name]?.arrayValue ?? []
    }

    private static func numbers(_ value: JSONValue?) -> [Double] { (value?.arrayValue ?? []).compactMap(\.doubleValue) }

    private static func difference(_ fit: ChoiceFit, _ expected: JSONValue) -> Double {
        zip(fit.weights, numbers(expected["weights"])).map { abs($0 - $1) }.max() ?? .infinity
    }

    @Test("one-hot choices get the weights of choix") func equalsChoix() throws {
        let all = try Self.fixtures("choix")
        #expect(all.count == 200)
        for set in all {
            let size = Int(set["items"]?.integerValue ?? 0)
            let item = { (place: JSONValue) in
                (0..<size).map { $0 == Int(place.integerValue ?? -1) ? 1.0 : 0 }
            }
            let choices = (set["choices"]?.arrayValue ?? []).map { choice in
                ObservedChoice(
                    alternatives: [item(choice.arrayValue![0])] + (choice.arrayValue![1].arrayValue ?? []).map(item),
                    chosen: 0)
            }
            let fit = ChoiceFit(choices, size: size, ridge: set["ridge"]?.doubleValue ?? 0)
            #expect(Self.difference(fit, set) < 1e-4 && fit.iterations < ChoiceFit.mostIterations)
        }
    }

    @Test("choices with attributes get the weights of scipy") func equalsScipy() throws {
        let all = try Self.fixtures("scipy")
        #expect(all.count == 200)
        for set in all {
            let choices = (set["choices"]?.arrayValue ?? []).map { choice in
                ObservedChoice(
                    alternatives: (choice.arrayValue![1].arrayValue ?? []).map { Self.numbers($0) },
                    chosen: Int(choice.arrayValue![0].integerValue ?? 0))
            }
            let size = Int(set["size"]?.integerValue ?? 0)
            let fit = ChoiceFit(choices, size: size, ridge: set["ridge"]?.doubleValue ?? 0)
            #expect(Self.difference(fit, set) < 1e-6)
        }
    }

    @Test("weights are finite and independent of sides")
    func isFiniteAndIgnoresSides() {
        var generator = SeededGenerator(seed: 3)
        let items = (0..<40).map { _ in (0..<12).map { _ in Bool.random(using: &generator) ? 1.0 : -1.0 } }
        let rules: [(Comparison) -> Side] = [
            { _ in .left }, { _ in .neither }, { items[$0.left][0] > items[$0.right][0] ? .left : .right },
        ]
        for choose in rules {
            let answered = (0..<20).map { number in
                var comparison = Comparison(left: number, right: 39 - number, purpose: .informative)
                comparison.choice = choose(comparison)
                return comparison
            }
            let swapped = answered.map { comparison in
                var other = Comparison(left: comparison.right, right: comparison.left, purpose: .informative)
                other.choice = comparison.choice?.swapped
                return other
            }
            let (fit, mirrored) = (
                PreferenceFit(answered, items: items, ridge: 1), PreferenceFit(swapped, items: items, ridge: 1)
            )
            #expect(fit.fit.weights.allSatisfy(\.isFinite) && fit.standardErrors.allSatisfy(\.isFinite))
            #expect(fit.fit.iterations < ChoiceFit.mostIterations)
            #expect(zip(fit.weights, mirrored.weights).allSatisfy { abs($0 - $1) <= 1e-9 })
            #expect(abs(fit.sideBias + mirrored.sideBias) <= 1e-9)
        }
    }
}
