import JSONText

/// A decimal number with at most three decimals, stored exactly as a count of thousandths.
package struct Thousandths: Hashable, Comparable, Sendable {
    /// How many thousandths the number has.
    package let count: Int64

    /// Takes a number of thousandths.
    package init(count: Int64) { self.count = count }
    /// Takes a whole number.
    package init(whole: Int) { count = Int64(whole) * 1000 }

    /// `nil` if the value is not a number, has more than three decimals, or is beyond ±10⁹.
    ///
    /// To count decimals, it rounds a double to thousandths and divides by 1000 again. The result is the same double
    /// only if the number has at most three decimals.
    package init?(_ value: JSONValue) {
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

    /// The canonical form. A whole number has no fraction, and there is no negative zero.
    package var json: JSONValue { count % 1000 == 0 ? .integer(count / 1000) : .number(double) }

    /// The number as a double.
    package var double: Double { Double(count) / 1000 }

    /// The whole number; `nil` if there is a fraction.
    package var whole: Int? { count % 1000 == 0 ? Int(count / 1000) : nil }

    package static func < (a: Thousandths, b: Thousandths) -> Bool { a.count < b.count }
}
