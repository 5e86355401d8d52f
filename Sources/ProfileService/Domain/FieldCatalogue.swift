/// One field of a profile.
struct ProfileField: Sendable, Equatable {
    enum Category: String, Sendable { case required, encouraged, optional }

    /// Boxed, because fields are copied often and their kinds are looked at seldom.
    indirect enum Kind: Sendable, Equatable {
        /// Graphemes from and to.
        case name(ClosedRange<Int>)
        case text(ClosedRange<Int>)
        case date
        case choice([String])
        /// `exclusive` stands alone where it is chosen.
        case choices([String], exclusive: String?)
        case integer(ClosedRange<Int64>)
        /// An https address of at most 2,048 bytes.
        case url
        /// ISO 3166-1 alpha-2.
        case country
        /// `{latitude, longitude}` in degrees.
        case coordinates
    }

    let key: String
    /// From 2: step 1 is the account itself.
    let step: Int64
    let kind: Kind
    let category: Category
    /// May be answered with "prefer not to say".
    var isDeclinable = false
    /// Among the fields of the catalogue; set there.
    fileprivate(set) var place = 0

    var isSkippable: Bool { category != .required }
}

/// Every field that a profile has, in the order in which they are asked.
enum FieldCatalogue {
    static let declined = "prefer_not_to_say"

    static let fields = list.enumerated().map { place, field in
        var field = field
        field.place = place
        return field
    }

    private static let list: [ProfileField] = [
        ProfileField(key: "displayName", step: 2, kind: .name(2...50), category: .required),
        ProfileField(key: "firstName", step: 2, kind: .name(1...50), category: .optional),
        ProfileField(key: "lastName", step: 2, kind: .name(1...50), category: .optional),
        ProfileField(key: "dateOfBirth", step: 3, kind: .date, category: .required),
        ProfileField(
            key: "gender", step: 4, kind: .choice(["male", "female", "non_binary", "other"]), category: .required,
            isDeclinable: true),
        ProfileField(
            key: "lookingFor", step: 5,
            kind: .choices(["men", "women", "non_binary", "everyone"], exclusive: "everyone"),
            category: .required),
        ProfileField(key: "photo", step: 6, kind: .url, category: .encouraged),
        ProfileField(key: "city", step: 7, kind: .text(1...100), category: .encouraged),
        ProfileField(key: "state", step: 7, kind: .text(1...100), category: .optional),
        ProfileField(key: "country", step: 7, kind: .country, category: .optional),
        ProfileField(key: "coordinates", step: 7, kind: .coordinates, category: .optional),
        ProfileField(key: "heightInches", step: 8, kind: .integer(48...95), category: .optional, isDeclinable: true),
        ProfileField(
            key: "bodyType", step: 8, kind: .choice(["slim", "athletic", "average", "curvy", "plus_size", "other"]),
            category: .optional, isDeclinable: true),
        ProfileField(key: "bio", step: 9, kind: .text(0...500), category: .encouraged),
    ]
    static let totalSteps: Int64 = 9

    static func field(_ key: String) -> ProfileField? { place(of: key).map { fields[$0] } }
    static func place(of key: String) -> Int? { places[key] }

    private static let places = Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.place) })
}
