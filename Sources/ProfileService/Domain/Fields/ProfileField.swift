import Values

/// The rules of one field of a profile.
///
/// It is a class because the rules go through all fields several times a request, and each access to a structure copies
/// every member.
final class ProfileField: Sendable {
    enum Category: String, Decodable, Sendable { case required, encouraged, optional }

    /// The type of a field's values. It is `indirect` because fields are copied often and their kinds are used seldom.
    indirect enum Kind: Sendable, Equatable {
        /// A name with so many graphemes. The range of `line` and `text` is in graphemes, too.
        case name(ClosedRange<Int>)
        case line(ClosedRange<Int>)
        case text(ClosedRange<Int>)
        case date
        case choice([String])
        /// Several options, at most `most`. The option `exclusive` cannot be combined with others.
        case choices([String], exclusive: String?, most: Int)
        case integer(ClosedRange<Int64>)
        case boolean
        /// An https address of at most 2,048 bytes.
        case url
        /// `{latitude, longitude}` in degrees.
        case coordinates
    }

    let key: String
    /// For searches by the key.
    let hash: KeyHash
    /// The step of the onboarding, from 2. Step 1 is the account.
    let step: Int64
    let kind: Kind
    let category: Category
    /// Whether a person may answer "prefer not to say".
    let isDeclinable: Bool
    /// Whether other people may see it.
    let isPublic: Bool
    let isDateOfBirth: Bool
    let isCity: Bool
    /// Whether people upload it, so that no value is taken.
    let isPhoto: Bool

    init(key: String, step: Int64, kind: Kind, category: Category, isDeclinable: Bool, isPublic: Bool) {
        (self.key, self.step, self.kind, self.category) = (key, step, kind, category)
        hash = KeyHash(key)
        (self.isDeclinable, self.isPublic) = (isDeclinable, isPublic)
        (isDateOfBirth, isCity, isPhoto) = (key == "dateOfBirth", key == "city", key == ProfilePhoto.field)
    }

    var isSkippable: Bool { category != .required }
}
