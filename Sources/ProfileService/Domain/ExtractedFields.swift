import BusProtocol
import JSONText

/// What answers to a questionnaire add to a profile: what fits its catalogue, and was not said there already.
struct ExtractedFields: Sendable, Equatable {
    /// Without problems, and never over an answer or a refusal to give one.
    private(set) var change: ProfileChange
    /// Fields that take nothing of it, with the code of why.
    private(set) var leftOut: [Refusal] = []

    struct Refusal: Sendable, Equatable {
        let field: String
        let code: String
    }

    init(_ extracts: [ProfileExtract], to record: ProfileRecord, today: CivilDate) {
        var (wanted, unknown): ([String: JSONValue], [Refusal]) = ([:], [])
        for extract in extracts {
            guard let field = FieldCatalogue.field(extract.field) else {
                unknown.append(Refusal(field: extract.field, code: "unknown_member"))
                continue
            }
            if !record.hasWord(on: field) { wanted[field.key] = extract.value }
        }
        change = ProfileChange(wanted, to: record, today: today)
        leftOut = unknown + change.problems.map { Refusal(field: $0.field, code: $0.code) }
        change.problems = []
    }

    /// The policy takes nobody who is so young.
    mutating func leaveOutDateOfBirth() {
        change.dateOfBirth = nil
        leftOut.append(Refusal(field: "dateOfBirth", code: ErrorCode.underage.name))
    }
}

extension ProfileRecord {
    /// Whether the person answered it here, or said that there will be no answer.
    fileprivate func hasWord(on field: ProfileField) -> Bool {
        if field.isDateOfBirth { return dateOfBirth != nil }
        switch fields[field] {
        case .answered, .declined: return true
        case .skipped, .stale, nil: return false
        }
    }
}
