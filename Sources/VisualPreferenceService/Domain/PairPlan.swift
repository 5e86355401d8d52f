/// Draws the pairs of a visual session, batch by batch, from its seed and the answers so far.
struct PairPlan: Sendable {
    /// The attributes of each item of the stimulus set.
    let items: [[Double]]
    let ridge: Double
    let seed: UInt64

    static let batch = 5
    /// The pairs of a session, without those of a second try.
    static let total = 20
    /// Most pairs of one session.
    static let most = total + batch
    /// How often one item is shown in a session before others take its place.
    private static let exposureCap = 3
    /// Each informative pair is the best of this many random ones. So sessions differ, and no item is shown to
    /// everybody.
    private static let candidates = 400

    /// The pairs of each batch: how many are informative, repeated and sure.
    private static let mixture = [(5, 0, 0), (5, 0, 0), (3, 1, 1), (2, 1, 2), (0, 2, 3)]

    /// The next batch.
    ///
    /// - Parameter answered: whole batches, with all pairs answered.
    /// - Returns: nothing after the last batch.
    func next(after answered: [Comparison]) -> [Comparison] {
        let number = answered.count / Self.batch
        guard Self.mixture.indices.contains(number) else { return [] }
        var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x5851_F42D_4C95_7F2D)
        let (informative, repeats, sure) = Self.mixture[number]
        let fit = PreferenceFit(answered, items: items, ridge: ridge)
        var batch = self.repeats(repeats, of: answered, by: fit)
        batch += surest(sure, besides: answered + batch, by: fit, &generator)
        batch += mostInformative(informative, besides: answered + batch, by: fit, &generator)
        return batch.shuffled(using: &generator)
    }

    /// Earlier pairs whose answer is the most probable by the fit, with their sides swapped.
    private func repeats(_ count: Int, of answered: [Comparison], by fit: PreferenceFit) -> [Comparison] {
        let seen = Set(answered.filter { $0.purpose == .repeat }.map(\.pair))
        let known = answered.filter { $0.purpose != .repeat && !seen.contains($0.pair) }.map {
            comparison -> (Comparison, Double) in
            let probabilities = fit.probabilities(comparison.left, comparison.right)
            let probability =
                switch comparison.choice {
                case .left: probabilities.left
                case .right: probabilities.right
                case .neither, nil: 0.0
                }
            return (comparison, probability)
        }
        return known.sorted { $0.1 > $1.1 }.prefix(count).map { comparison, _ in
            Comparison(
                left: comparison.right, right: comparison.left, purpose: .repeat, expected: comparison.choice?.swapped)
        }
    }

    /// New pairs whose choice the fit predicts most surely. Their sides are random.
    private func surest(
        _ count: Int, besides shown: [Comparison], by fit: PreferenceFit, _ generator: inout SeededGenerator
    ) -> [Comparison] {
        var shown = shown
        return (0..<count).compactMap { _ in
            let best = pairs(besides: shown).max { sureness($0, fit) < sureness($1, fit) }
            guard let best else { return nil }
            let probabilities = fit.probabilities(best.0, best.1)
            let (better, other) = probabilities.left >= probabilities.right ? best : (best.1, best.0)
            let comparison =
                Bool.random(using: &generator)
                ? Comparison(left: better, right: other, purpose: .sure, expected: .left)
                : Comparison(left: other, right: better, purpose: .sure, expected: .right)
            shown.append(comparison)
            return comparison
        }
    }

    private func sureness(_ pair: (Int, Int), _ fit: PreferenceFit) -> Double {
        let probabilities = fit.probabilities(pair.0, pair.1)
        return max(probabilities.left, probabilities.right)
    }

    /// New pairs whose answers tell most: p(1 − p) · dᵀH⁻¹d. After each pair, H⁻¹ is updated as if the pair were
    /// answered. So the pairs of a batch are not alike.
    private func mostInformative(
        _ count: Int, besides shown: [Comparison], by fit: PreferenceFit, _ generator: inout SeededGenerator
    ) -> [Comparison] {
        var (shown, covariance) = (shown, fit.fit.covariance)
        return (0..<count).compactMap { _ in
            let all = pairs(besides: shown)
            let drawn = (0..<min(Self.candidates, all.count)).map { _ in all.randomElement(using: &generator)! }
            var best: (pair: (Int, Int), gain: Double, spread: Double, direction: [Double])?
            for pair in drawn {
                let probabilities = fit.probabilities(pair.0, pair.1)
                let spread = probabilities.left * probabilities.right
                let difference = fit.difference(pair.0, pair.1)
                let direction = covariance.times(difference)
                let gain = spread * zip(difference, direction).reduce(0) { $0 + $1.0 * $1.1 }
                if gain > best?.gain ?? -1 { best = (pair, gain, spread, direction) }
            }
            guard let best else { return nil }
            covariance.add(best.direction, times: -best.spread / (1 + best.gain))
            let (left, right) = Bool.random(using: &generator) ? best.pair : (best.pair.1, best.pair.0)
            let comparison = Comparison(left: left, right: right, purpose: .informative)
            shown.append(comparison)
            return comparison
        }
    }

    /// The pairs that were not shown, of items that were not shown too often.
    private func pairs(besides shown: [Comparison]) -> [(Int, Int)] {
        // Each pair as one number, since a set of sets took most of the time.
        let known = Set(shown.map { min($0.left, $0.right) * items.count + max($0.left, $0.right) })
        var exposures = [Int](repeating: 0, count: items.count)
        for comparison in shown { for item in comparison.pair { exposures[item] += 1 } }
        let free = items.indices.filter { exposures[$0] < Self.exposureCap }
        return free.flatMap { first in
            free.filter { $0 > first && !known.contains(first * items.count + $0) }.map { (first, $0) }
        }
    }
}
