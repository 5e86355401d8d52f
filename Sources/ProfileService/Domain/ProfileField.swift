/// One field of a profile, as far as the rules look at it.
struct ProfileField: Sendable, Equatable {
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

    var isSkippable: Bool { category != .required }
}
