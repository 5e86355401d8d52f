import BusProtocol

/// Checks the stored answers against a new version of the field catalogue.
enum FieldRecheckRules {
    /// The fields that change. An answer that is no longer valid becomes stale. An answer whose stored form changed is
    /// converted.
    static func changes(in record: ProfileRecord, _ catalogue: FieldCatalogue) -> [String: FieldState] {
        var changes: [String: FieldState] = [:]
        for field in catalogue.fields {
            guard !field.isPhoto, case .answered(let value)? = record.fields[field] else { continue }
            do throws(FieldValidator.Refusal) {
                let kept = try FieldValidator.canonical(value, for: field)
                if kept != value { changes[field.key] = .answered(kept) }
            } catch {
                changes[field.key] = .stale(value)
            }
        }
        return changes
    }
}
