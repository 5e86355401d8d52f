import BusProtocol

/// How far a profile is, and what to ask next.
enum CompletionRules {
    static func completion(of record: ProfileRecord) -> Completion {
        let fields = FieldCatalogue.fields
        let unsaid = fields.filter { record.state(of: $0) == nil }
        let next = record.missingRequired.first ?? unsaid.first
        return Completion(
            currentStep: (unsaid.map(\.step).min() ?? FieldCatalogue.totalSteps + 1) - 1,
            totalSteps: FieldCatalogue.totalSteps, percentage: percentage(of: record),
            missingRequired: record.missingRequired.map(\.key), nextField: next?.key, nextStep: next?.step,
            prompt: prompt(for: record), skippedFields: record.keys { $0 == .skipped },
            preferNotToShareFields: record.keys { $0 == .declined }, isComplete: isComplete(record),
            completedAt: record.completedAt)
    }

    /// Fields answered or declined, of all; a skipped one does not count.
    static func percentage(of record: ProfileRecord) -> Int64 {
        let fields = FieldCatalogue.fields
        return Int64(fields.count { record.isSatisfied($0) } * 100 / fields.count)
    }

    /// Every required field is there, and something was said about every encouraged one.
    static func isComplete(_ record: ProfileRecord) -> Bool {
        record.missingRequired.isEmpty
            && FieldCatalogue.fields.allSatisfy { $0.category != .encouraged || record.state(of: $0) != nil }
    }

    /// A missing required field blocks; the first encouraged one that nothing was said about is asked for gently.
    static func prompt(for record: ProfileRecord) -> Completion.Prompt? {
        if let field = record.missingRequired.first {
            return .init(field: field.key, step: field.step, blocking: true, reason: "required")
        }
        return FieldCatalogue.fields.first { $0.category == .encouraged && record.state(of: $0) == nil }
            .map { .init(field: $0.key, step: $0.step, blocking: false, reason: "encouraged") }
    }
}
