import BusProtocol

/// What another version of the catalogue makes of the answers that stand.
enum FieldRecheckRules {
    /// An answer that is not taken any more is stale; one that is kept in another form now takes that form.
    static func changes(in record: ProfileRecord) -> [String: FieldState] {
        var changes: [String: FieldState] = [:]
        for field in FieldCatalogue.fields {
            guard case .answered(let value)? = record.fields[field] else { continue }
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
