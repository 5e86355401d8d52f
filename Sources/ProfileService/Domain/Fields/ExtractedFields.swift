import BusProtocol
import JSONText

/// The values that answers to a questionnaire write to a profile. They must fit the field catalogue.
struct ExtractedFields: Sendable {
    /// The change. It has no problems.
    private(set) var change: ProfileChange
    /// The fields that were left out, each with the code of the reason.
    private(set) var leftOut: [Refusal] = []

    struct Refusal: Sendable, Equatable {
        let field: String
        let code: String
    }

    /// - Parameter correction: the rules for correcting the date of birth, if these answers are the person's newest.
    ///   Without it, they never replace an answered or declined field.
    init(
        _ extracts: [ProfileExtract], to record: ProfileRecord, _ catalogue: FieldCatalogue, today: CivilDate,
        replacingBy correction: DateOfBirthCorrection? = nil
    ) {
        var (wanted, unknown): ([String: JSONValue], [Refusal]) = ([:], [])
        for extract in extracts {
            guard let field = catalogue.field(extract.field) else {
                unknown.append(Refusal(field: extract.field, code: "unknown_member"))
                continue
            }
            // Verification alone decides which photo represents the person, so answers to questionnaires do not.
            if field.isPhoto { continue }
            if correction != nil || !record.hasWord(on: field) { wanted[field.key] = extract.value }
        }
        change = ProfileChange(wanted, to: record, catalogue, today: today, correction: correction)
        leftOut = unknown + change.problems.map { Refusal(field: $0.field, code: $0.code) }
        change.problems = []
        if change.isDateOfBirthLocked {
            change.isDateOfBirthLocked = false
            leftOut.append(Refusal(field: "dateOfBirth", code: ErrorCode.dateOfBirthLocked.name))
        }
    }

    /// Removes the date of birth, since the age policy does not accept a person so young.
    mutating func leaveOutDateOfBirth() {
        change.dateOfBirth = nil
        leftOut.append(Refusal(field: "dateOfBirth", code: ErrorCode.underage.name))
    }
}

extension ProfileRecord {
    /// Whether the person has answered or declined the field in the profile.
    fileprivate func hasWord(on field: ProfileField) -> Bool {
        if field.isDateOfBirth { return dateOfBirth != nil }
        switch fields[field] {
        case .answered, .declined: return true
        case .skipped, .stale, nil: return false
        }
    }
}
