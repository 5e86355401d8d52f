import BusProtocol
import JSONText
import ProcessRuntime

/// The state of one field. A field without an answer, a skip or a decline has no state.
enum FieldState: Sendable, Equatable {
    case answered(JSONValue)
    /// The person skipped the field so often, for the last time at `last`.
    case skipped(times: Int64, last: Timestamp)
    case declined
    /// An answer that the catalogue no longer accepts. It is shown until the person gives another one.
    case stale(JSONValue)

    var isSkipped: Bool { if case .skipped = self { true } else { false } }
    var isStale: Bool { if case .stale = self { true } else { false } }
}

/// The state of each field of the catalogue, in an array in the order of the catalogue.
///
/// Rules go through a whole profile several times a request, and an array needs no hashing.
struct FieldStates: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    private var states = [FieldState?](repeating: nil, count: FieldCatalogue.fields.count)

    init(dictionaryLiteral states: (String, FieldState)...) {
        for (key, state) in states { self[key] = state }
    }

    subscript(field: ProfileField) -> FieldState? { states[field.place] }

    /// A key that the catalogue does not have, or no longer has, has no state. Setting one does nothing.
    subscript(key: String) -> FieldState? {
        get { FieldCatalogue.place(of: key).flatMap { states[$0] } }
        set { if let place = FieldCatalogue.place(of: key) { states[place] = newValue } }
    }
}

/// A profile as stored in its rows.
struct ProfileRecord: Sendable, Equatable {
    let personID: Identifier
    var fields: FieldStates = [:]
    var dateOfBirth: CivilDate?
    var isQuestionnaireComplete = false
    /// Whether an operator set the onboarding to complete.
    var isBackfilled = false
    /// Whether auth has suspended the account.
    var isSuspended = false
    var visualPreferences = Onboarding.VisualPreferences.notStarted
    var photoVerification: Onboarding.Verification?
    var idVerification: Onboarding.Verification?
    /// The time zone of the person's calendar days; `nil` means UTC.
    var timeZone: PersonTimeZone?
    var completedAt: Timestamp?
    var revision: Int64 = 1
    var createdAt: Timestamp
    var updatedAt: Timestamp

    func state(of field: ProfileField) -> FieldState? {
        if field.isDateOfBirth { return dateOfBirth.map { .answered(.string($0.description)) } }
        // Coordinates count as an answer to the field of the city.
        if field.isCity, fields[field]?.isSkipped ?? true, case .answered(let value) = fields["coordinates"] {
            return .answered(value)
        }
        return fields[field]
    }

    func changed(by change: ProfileChange) -> ProfileRecord {
        var changed = self
        for (key, state) in change.states { changed.fields[key] = state }
        changed.dateOfBirth = change.dateOfBirth ?? dateOfBirth
        if let timeZone = change.timeZone { changed.timeZone = timeZone }
        return changed
    }

    /// Whether the field was answered or declined, so that nothing more is needed.
    func isSatisfied(_ field: ProfileField) -> Bool {
        switch state(of: field) {
        case .answered, .declined: true
        case .skipped, .stale, nil: false
        }
    }

    var missingRequired: [ProfileField] {
        FieldCatalogue.fields.filter { $0.category == .required && !isSatisfied($0) }
    }

    func keys(where matches: (FieldState) -> Bool) -> [String] {
        FieldCatalogue.fields.filter { fields[$0].map(matches) ?? false }.map(\.key)
    }
}
