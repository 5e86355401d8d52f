import JSONText

/// A decimal number with at most three decimals, kept exactly, in thousandths.
struct Thousandths: Hashable, Comparable, Sendable {
    let count: Int64

    init(count: Int64) { self.count = count }
    init(whole: Int) { count = Int64(whole) * 1000 }

    /// `nil` for anything but a number, for more than three decimals, and beyond ±10⁹.
    ///
    /// A decimal of three places and the double nearest to it name each other: dividing the rounded thousandths by 1000
    /// gives that double again, and gives another one when there were more places.
    init?(_ value: JSONValue) {
        switch value {
        case .integer(let whole):
            guard whole.magnitude <= 1_000_000_000 else { return nil }
            count = whole * 1000
        case .number(let number):
            guard number.magnitude <= 1e9 else { return nil }
            let rounded = (number * 1000).rounded()
            guard rounded / 1000 == number else { return nil }
            count = Int64(rounded)
        default: return nil
        }
    }

    /// The canonical form: a whole number without fraction, never a negative zero.
    var json: JSONValue { count % 1000 == 0 ? .integer(count / 1000) : .number(double) }

    var double: Double { Double(count) / 1000 }

    /// `nil` where there is a fraction.
    var whole: Int? { count % 1000 == 0 ? Int(count / 1000) : nil }

    static func < (a: Thousandths, b: Thousandths) -> Bool { a.count < b.count }
}
