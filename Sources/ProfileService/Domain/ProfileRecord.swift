import BusProtocol
import JSONText
import ProcessRuntime

/// The state of one field. A field without an answer, a skip or a decline has no state.
enum FieldState: Sendable, Equatable {
    case answered(JSONValue)
    /// The person skipped the field so often, for the last time at `last`.
    case skipped(times: Int64, last: Timestamp)
    case declined
    /// An answer that the field catalogue no longer accepts. It is shown until the person gives another one.
    case stale(JSONValue)

    var isSkipped: Bool { if case .skipped = self { true } else { false } }
    var isStale: Bool { if case .stale = self { true } else { false } }
}

/// A profile as stored in its rows.
struct ProfileRecord: Sendable, Equatable {
    let personID: Identifier
    var fields: FieldStates = [:]
    var dateOfBirth: CivilDate?
    /// When the first date of birth was stored; `nil` if that was before it was noted.
    var dateOfBirthSetAt: Timestamp?
    var isDateOfBirthCorrected = false
    /// When each questionnaire was completed first, by its key.
    var questionnaires: [String: Timestamp] = [:]
    /// The version of the plan that the person follows in each app.
    var plans: [String: PlanReference] = [:]
    /// When the person accepted each version of a text.
    var consents: [Plan.TermsKey: Timestamp] = [:]
    /// The keys of the tasks that the operator has done.
    var operatorTasks: Set<String> = []
    /// The plans that the person has completed in some app.
    var completedPlans: Set<PlanReference> = []
    /// Whether an operator set the onboarding to complete.
    var isBackfilled = false
    /// Whether auth has suspended the account.
    var isSuspended = false
    var visualPreferences = Onboarding.VisualPreferences.notStarted
    /// When the person last deferred the visual preferences.
    var visualDeferredAt: Timestamp?
    var photoVerification: Onboarding.Verification?
    var idVerification: Onboarding.Verification?
    /// The photo that represents the person. The field `photo` follows it.
    var photo: ProfilePhoto?
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

    /// The result of a verification; `nil` if there is none yet, and for a task that is no verification.
    subscript(verdictOf task: Plan.Task) -> Onboarding.Verification? {
        get {
            switch task {
            case .visualPreferences: nil
            case .verification: photoVerification
            case .idVerification: idVerification
            }
        }
        set {
            switch task {
            case .visualPreferences: break
            case .verification: photoVerification = newValue
            case .idVerification: idVerification = newValue
            }
        }
    }

    /// When the person accepted a version of a text; `nil` if the person has not. A consent from before consents had a
    /// plan counts for every plan.
    func acceptedAt(_ terms: Plan.TermsKey) -> Timestamp? {
        var unplanned = terms
        unplanned.plan = ""
        return consents[terms] ?? consents[unplanned]
    }

    func changed(by change: ProfileChange) -> ProfileRecord {
        var changed = self
        for (key, state) in change.states { changed.fields[key] = state }
        changed.dateOfBirth = change.dateOfBirth ?? dateOfBirth
        if let timeZone = change.timeZone { changed.timeZone = timeZone }
        return changed
    }

    /// Whether the person has answered or declined the field, so that nothing more is needed.
    func isSatisfied(_ field: ProfileField) -> Bool {
        if field.isDateOfBirth { return dateOfBirth != nil }
        return switch state(of: field) {
        case .answered, .declined: true
        case .skipped, .stale, nil: false
        }
    }

    /// Whether the field is required, and something is needed for it.
    func isMissing(_ field: ProfileField) -> Bool { field.category == .required && !isSatisfied(field) }

    /// The required fields among these for which something is needed.
    func missing(of fields: [ProfileField]) -> [ProfileField] { fields.filter(isMissing) }

    /// The keys of the field catalogue's fields whose state matches.
    func keys(of catalogue: FieldCatalogue, where matches: (FieldState) -> Bool) -> [String] {
        // Most people have skipped and declined nothing, so nothing is looked up by its key.
        guard fields.states.contains(where: matches) else { return [] }
        return catalogue.fields.filter { fields[$0].map(matches) ?? false }.map(\.key)
    }
}
