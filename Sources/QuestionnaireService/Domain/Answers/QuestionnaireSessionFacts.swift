import BusProtocol
import JSONText

/// The facts about a person, apart from answers, when a session is opened or moved.
struct QuestionnaireSessionFacts: Sendable {
    /// Thrown if fields of profile are needed that were not requested yet.
    struct Wanted: Error, Equatable {
        /// The keys of the fields.
        let fields: Set<String>
    }

    /// The language in which the person is asked.
    enum Language: Sendable {
        /// The best match for an `Accept-Language`. Without the header, it is the definition's default.
        case header(String?)
        /// Unknown, since no client asks for questions yet.
        case untold
    }

    /// The name of the fact with the person's time zone from profile. Conditions do not use it.
    static let timeZone = "timeZone"

    var language: Language
    /// One of ``OpenSession/platforms``; `nil` if unknown.
    var platform: String?
    /// The values of the fields that were requested from profile; `null` means none.
    var profile: [String: JSONValue] = [:]

    /// All facts that a session keeps, by name. `null` means unknown, and stays so.
    ///
    /// - Throws: ``Wanted`` if the definition needs a field of profile that was not requested.
    func pins(for published: PublishedDefinition) throws(Wanted) -> [String: JSONValue] {
        var pins: [String: JSONValue] = ["platform": platform.map { .string($0) } ?? .null]
        switch language {
        case .header(let header): pins["locale"] = .string(published.language(for: header))
        case .untold: pins["locale"] = .null
        }
        let fields = Dictionary(
            uniqueKeysWithValues: published.definition.pinned.compactMap { name in
                (name == Self.timeZone ? name : QuestionnaireSessionFact(name)?.field).map { (name, $0) }
            })
        let missing = Set(fields.values).subtracting(profile.keys)
        guard missing.isEmpty else { throw Wanted(fields: missing) }
        for (name, field) in fields { pins[name] = profile[field] }
        return pins
    }

    /// The facts that a session keeps in addition when it is moved.
    func pins(
        for published: PublishedDefinition, beside known: [String: JSONValue]
    ) throws(Wanted) -> [String: JSONValue] {
        guard !published.definition.pinned.isSubset(of: known.keys) else { return [:] }
        return try pins(for: published).filter { known[$0.key] == nil }
    }
}
