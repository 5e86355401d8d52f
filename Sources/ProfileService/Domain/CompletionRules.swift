import BusProtocol

/// How far a profile is, and what to ask next.
struct CompletionRules: Sendable {
    /// Until an encouraged field that was skipped is asked for again.
    let repromptAfter: Duration
    /// A skipped field is asked for again so often at most.
    static let mostReprompts = 3

    func completion(of record: ProfileRecord, now: Timestamp) -> Completion {
        let fields = FieldCatalogue.fields
        let unsaid = fields.filter { Self.isUnsaid($0, record) }
        let next = record.missingRequired.first ?? unsaid.first
        return Completion(
            currentStep: (unsaid.map(\.step).min() ?? FieldCatalogue.totalSteps + 1) - 1,
            totalSteps: FieldCatalogue.totalSteps, percentage: Self.percentage(of: record),
            missingRequired: record.missingRequired.map(\.key), nextField: next?.key, nextStep: next?.step,
            lastCompleted: fields.last { !Self.isUnsaid($0, record) }?.key, prompt: prompt(for: record, now: now),
            skippedFields: record.keys(where: \.isSkipped), preferNotToShareFields: record.keys { $0 == .declined },
            isComplete: Self.isComplete(record), completedAt: record.completedAt)
    }

    /// Fields answered or declined, of all; a skipped one does not count.
    static func percentage(of record: ProfileRecord) -> Int64 {
        let fields = FieldCatalogue.fields
        return Int64(fields.count { record.isSatisfied($0) } * 100 / fields.count)
    }

    /// Every required field is there, and something was said about every encouraged one.
    static func isComplete(_ record: ProfileRecord) -> Bool {
        record.missingRequired.isEmpty
            && FieldCatalogue.fields.allSatisfy { $0.category != .encouraged || !isUnsaid($0, record) }
    }

    /// A missing required field blocks; the first encouraged one that is due is asked for gently.
    func prompt(for record: ProfileRecord, now: Timestamp) -> Completion.Prompt? {
        if let field = record.missingRequired.first {
            return .init(field: field.key, step: field.step, blocking: true, reason: "required")
        }
        return FieldCatalogue.fields.first { isAskedFor($0, record, now: now) }
            .map { .init(field: $0.key, step: $0.step, blocking: false, reason: "encouraged") }
    }

    /// What a skip makes of a field.
    ///
    /// - Parameter clear: an answer may be lost by it.
    /// - Returns: `nil` where nothing changes: a skip counts again when the field was asked for again.
    /// - Throws: `has_value`.
    func skipped(
        _ field: ProfileField, in record: ProfileRecord, clear: Bool, now: Timestamp
    ) throws(BusError) -> FieldState? {
        switch record.fields[field] {
        case .answered, .declined, .stale:
            guard clear else { throw BusError(.hasValue, "This has an answer already. Clear it first.") }
            return .skipped(times: 1, last: now)
        case .skipped(let times, _):
            return isAskedFor(field, record, now: now) ? .skipped(times: times + 1, last: now) : nil
        case nil: return .skipped(times: 1, last: now)
        }
    }

    private static func isUnsaid(_ field: ProfileField, _ record: ProfileRecord) -> Bool {
        record.state(of: field)?.isStale ?? true
    }

    private func isAskedFor(_ field: ProfileField, _ record: ProfileRecord, now: Timestamp) -> Bool {
        guard field.category == .encouraged else { return false }
        return switch record.state(of: field) {
        case .answered, .declined: false
        case .stale, nil: true
        case .skipped(let times, let last): times <= Self.mostReprompts && now >= last + repromptAfter
        }
    }
}
