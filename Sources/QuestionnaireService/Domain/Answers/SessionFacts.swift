import BusProtocol
import JSONText

/// What is known of a person when a session is opened or moved, apart from their answers.
struct SessionFacts: Sendable {
    /// Of profile, wanted and not asked for yet.
    struct Wanted: Error, Equatable {
        /// Keys of fields.
        let fields: Set<String>
    }

    /// In what language the person is asked.
    enum Language: Sendable {
        /// The best for an `Accept-Language`; without one, the definition's default.
        case header(String?)
        /// Nobody is shown a question yet, and nobody says.
        case untold
    }

    /// The name of the person's time zone as profile knows it: no condition looks at it.
    static let timeZone = "timeZone"

    var language: Language
    /// One of ``OpenSession/platforms``; `nil`: nobody said so.
    var platform: String?
    /// What profile said of each field that it was asked for; `null`: nothing.
    var profile: [String: JSONValue] = [:]

    /// All that a session is pinned to, by name; `null` where it is not known, which is so for good.
    ///
    /// - Throws: ``Wanted`` where the definition looks at something of profile that was not asked for.
    func pins(for published: PublishedDefinition) throws(Wanted) -> [String: JSONValue] {
        var pins: [String: JSONValue] = ["platform": platform.map { .string($0) } ?? .null]
        switch language {
        case .header(let header): pins["locale"] = .string(published.language(for: header))
        case .untold: pins["locale"] = .null
        }
        let fields = Dictionary(
            uniqueKeysWithValues: published.definition.pinned.compactMap { name in
                (name == Self.timeZone ? name : SessionFact(name)?.field).map { (name, $0) }
            })
        let missing = Set(fields.values).subtracting(profile.keys)
        guard missing.isEmpty else { throw Wanted(fields: missing) }
        for (name, field) in fields { pins[name] = profile[field] }
        return pins
    }

    /// What a session is pinned to beside what it has, when it is moved.
    func pins(
        for published: PublishedDefinition, beside known: [String: JSONValue]
    ) throws(Wanted) -> [String: JSONValue] {
        guard !published.definition.pinned.isSubset(of: known.keys) else { return [:] }
        return try pins(for: published).filter { known[$0.key] == nil }
    }
}
