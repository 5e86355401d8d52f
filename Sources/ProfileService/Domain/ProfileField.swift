/// One field of a profile, as far as the rules look at it.
///
/// A class: the rules go through all fields several times a request, and of a structure each look copies every member.
final class ProfileField: Sendable {
    enum Category: String, Sendable { case required, encouraged, optional }

    /// Boxed, because fields are copied often and their kinds are looked at seldom.
    indirect enum Kind: Sendable, Equatable {
        /// Graphemes from and to.
        case name(ClosedRange<Int>)
        case line(ClosedRange<Int>)
        case text(ClosedRange<Int>)
        case date
        case choice([String])
        /// `exclusive` stands alone where it is chosen.
        case choices([String], exclusive: String?, most: Int)
        case integer(ClosedRange<Int64>)
        case boolean
        /// An https address of at most 2,048 bytes.
        case url
        /// `{latitude, longitude}` in degrees.
        case coordinates
    }

    let key: String
    /// From 2: step 1 is the account itself.
    let step: Int64
    let kind: Kind
    let category: Category
    /// May be answered with "prefer not to say".
    let isDeclinable: Bool
    /// Others may see it.
    let isPublic: Bool
    /// What it is needed for.
    let capabilities: Set<RequirementRules.Capability>
    /// Among the fields of the catalogue.
    let place: Int
    let isDateOfBirth: Bool
    let isCity: Bool

    init(
        key: String, step: Int64, kind: Kind, category: Category, isDeclinable: Bool, isPublic: Bool,
        capabilities: Set<RequirementRules.Capability>, place: Int
    ) {
        (self.key, self.step, self.kind, self.category) = (key, step, kind, category)
        (self.isDeclinable, self.isPublic, self.capabilities, self.place) = (
            isDeclinable, isPublic, capabilities, place
        )
        (isDateOfBirth, isCity) = (key == "dateOfBirth", key == "city")
    }

    var isSkippable: Bool { category != .required }
}
