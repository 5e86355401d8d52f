/// The forms of keys in documents. Except for codes of countries, all keys begin with a lower-case ASCII letter. They
/// have only letters, digits and the separator of their form.
package enum KeyForm: Sendable {
    /// `two-words`
    case kebab
    /// `two_words`
    case snake
    /// `twoWords`
    case camel
    /// `SE`: two capitals, as in ISO 3166-1
    case country

    /// Whether a key has this form.
    package func fits(_ key: String) -> Bool {
        switch self {
        case .kebab: Self.joins(key, separator: "-")
        case .snake: Self.joins(key, separator: "_")
        case .country: key.utf8.count == 2 && key.unicodeScalars.allSatisfy { ("A"..."Z").contains($0) }
        case .camel: Self.begins(key) && key.unicodeScalars.allSatisfy { Self.isPart($0) || ("A"..."Z").contains($0) }
        }
    }

    private static func joins(_ key: String, separator: Character) -> Bool {
        begins(key)
            && key.split(separator: separator, omittingEmptySubsequences: false).allSatisfy { part in
                !part.isEmpty && part.unicodeScalars.allSatisfy(isPart)
            }
    }

    private static func begins(_ key: String) -> Bool {
        key.unicodeScalars.first.map { ("a"..."z").contains($0) } == true
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar)
    }
}
