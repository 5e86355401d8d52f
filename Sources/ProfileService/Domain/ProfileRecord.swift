import BusProtocol
import JSONText

/// What was said about one field. A field that nothing was said about is not there.
enum FieldState: Sendable, Equatable {
    case answered(JSONValue)
    case skipped
    case declined
}

/// A profile as its rows say.
struct ProfileRecord: Sendable, Equatable {
    let personID: Identifier
    var fields: [String: FieldState] = [:]
    var dateOfBirth: CivilDate?
    var isQuestionnaireComplete = false
    var completedAt: Timestamp?
    var revision: Int64 = 1
    var createdAt: Timestamp
    var updatedAt: Timestamp

    func state(of field: ProfileField) -> FieldState? {
        if field.key == "dateOfBirth" { return dateOfBirth.map { .answered(.string($0.description)) } }
        // A place by its coordinates does for a city.
        if field.key == "city", fields["city"] == nil, case .answered(let value) = fields["coordinates"] {
            return .answered(value)
        }
        return fields[field.key]
    }

    /// Answered or declined: nothing more is wanted.
    func isSatisfied(_ field: ProfileField) -> Bool {
        switch state(of: field) {
        case .answered, .declined: true
        case .skipped, nil: false
        }
    }

    var missingRequired: [ProfileField] {
        FieldCatalogue.fields.filter { $0.category == .required && !isSatisfied($0) }
    }

    func keys(where matches: (FieldState) -> Bool) -> [String] {
        FieldCatalogue.fields.map(\.key).filter { fields[$0].map(matches) ?? false }
    }
}
