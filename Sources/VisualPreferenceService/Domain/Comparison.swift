/// A person's choice: a side, or neither of the two.
enum Side: String, Sendable {
    case left, right, neither

    /// The same choice after the sides have changed places.
    var swapped: Side {
        switch self {
        case .left: .right
        case .right: .left
        case .neither: .neither
        }
    }
}

/// One pair of a visual session, and the person's choice. Its items are places in the stimulus set.
struct Comparison: Sendable, Equatable {
    /// Why the pair is shown.
    enum Purpose: String, Sendable {
        /// Its answer says most about the weights.
        case informative
        /// An earlier pair with its sides swapped, which the app does not mark as a repetition. The person should
        /// choose the same item.
        case `repeat`
        /// The fit is surest which item is chosen.
        case sure
    }

    let left: Int
    let right: Int
    let purpose: Purpose
    /// For a check, the choice that makes it hold.
    var expected: Side?
    var choice: Side?
    /// How long the person took, by the client's clock.
    var latencyMs: Int64?

    /// Whether an answered check went as expected; `nil` for other pairs.
    var holds: Bool? {
        guard let expected, let choice else { return nil }
        return choice == expected
    }

    /// The two items, in any order of their sides.
    var pair: Set<Int> { [left, right] }
}
