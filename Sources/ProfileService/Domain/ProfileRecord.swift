import BusProtocol
import JSONText
import ProcessRuntime

/// What was said about one field. A field that nothing was said about is not there.
enum FieldState: Sendable, Equatable {
    case answered(JSONValue)
    /// How often it was left out, and when for the last time.
    case skipped(times: Int64, last: Timestamp)
    case declined
    /// An answer that the catalogue does not take any more: shown until the person gives another.
    case stale(JSONValue)

    var isSkipped: Bool { if case .skipped = self { true } else { false } }
    var isStale: Bool { if case .stale = self { true } else { false } }
}

/// What was said about each field of the catalogue, by its place in it: a profile is looked at from end to end several
/// times a request, and a list needs no hashing.
struct FieldStates: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    private var states = [FieldState?](repeating: nil, count: FieldCatalogue.fields.count)

    init(dictionaryLiteral states: (String, FieldState)...) {
        for (key, state) in states { self[key] = state }
    }

    subscript(field: ProfileField) -> FieldState? { states[field.place] }

    /// A key that is in no catalogue (any more) has no state and takes none.
    subscript(key: String) -> FieldState? {
        get { FieldCatalogue.place(of: key).flatMap { states[$0] } }
        set { if let place = FieldCatalogue.place(of: key) { states[place] = newValue } }
    }
}

/// A profile as its rows say.
struct ProfileRecord: Sendable, Equatable {
    let personID: Identifier
    var fields: FieldStates = [:]
    var dateOfBirth: CivilDate?
    var isQuestionnaireComplete = false
    /// An operator set the onboarding to complete.
    var isBackfilled = false
    /// Auth has the account suspended.
    var isSuspended = false
    var visualPreferences = Onboarding.VisualPreferences.notStarted
    var photoVerification: Onboarding.Verification?
    var idVerification: Onboarding.Verification?
    /// Where the person's days begin and end; `nil`: in UTC.
    var timeZone: PersonTimeZone?
    var completedAt: Timestamp?
    var revision: Int64 = 1
    var createdAt: Timestamp
    var updatedAt: Timestamp

    func state(of field: ProfileField) -> FieldState? {
        if field.isDateOfBirth { return dateOfBirth.map { .answered(.string($0.description)) } }
        // A place by its coordinates does for a city.
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

    /// Answered or declined: nothing more is wanted.
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
