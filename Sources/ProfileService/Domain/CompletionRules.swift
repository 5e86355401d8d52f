import BusProtocol

/// Decides how complete a profile is, and which field to ask for next.
struct CompletionRules: Sendable {
    let catalogue: FieldCatalogue
    /// The fields of steps that are not asked of everybody.
    let conditional: [ConditionalFields]
    /// The time until an encouraged field that was skipped is asked for again.
    let repromptAfter: Duration
    /// How often a skipped field is asked for again.
    static let mostReprompts = 3

    /// The fields that a person is asked for, in order.
    func fields(for record: ProfileRecord) -> [ProfileField] {
        let hidden = hidden(from: record)
        return hidden.isEmpty ? catalogue.fields : catalogue.fields.filter { !hidden.contains($0.key) }
    }

    /// The keys of the fields that a person is not asked for.
    func hidden(from record: ProfileRecord) -> Set<String> {
        conditional.filter { !$0.condition.holds(for: record) }.reduce(into: []) { $0.formUnion($1.keys) }
    }

    func completion(of record: ProfileRecord, now: Timestamp) -> Completion {
        let fields = fields(for: record)
        let missing = record.missing(of: fields)
        let unsaid = fields.filter { Self.isUnsaid($0, record) }
        let next = missing.first ?? unsaid.first
        return Completion(
            currentStep: (unsaid.map(\.step).min() ?? catalogue.totalSteps + 1) - 1,
            totalSteps: catalogue.totalSteps, percentage: percentage(of: record),
            missingRequired: missing.map(\.key), next: next.map { NextProfileField(field: $0.key, step: $0.step) },
            nextField: next?.key, nextStep: next?.step,
            lastCompleted: fields.last { !Self.isUnsaid($0, record) }?.key, prompt: prompt(for: record, now: now),
            skippedFields: record.keys(of: catalogue, where: \.isSkipped),
            preferNotToShareFields: record.keys(of: catalogue) { $0 == .declined }, isComplete: isComplete(record),
            completedAt: record.completedAt)
    }

    /// The percentage of fields that were answered or declined. Skipped fields do not count.
    func percentage(of record: ProfileRecord) -> Int64 {
        let fields = fields(for: record)
        // A person who sees no step with fields has nothing to fill in.
        return fields.isEmpty ? 100 : Int64(fields.count { record.isSatisfied($0) } * 100 / fields.count)
    }

    /// Whether every required field is there, and every encouraged field was answered, declined or skipped.
    func isComplete(_ record: ProfileRecord) -> Bool {
        let fields = fields(for: record)
        return record.missing(of: fields).isEmpty
            && fields.allSatisfy { $0.category != .encouraged || !Self.isUnsaid($0, record) }
    }

    /// The field to ask for next. A missing required field blocks the person. An encouraged field does not.
    func prompt(for record: ProfileRecord, now: Timestamp) -> Completion.Prompt? {
        let fields = fields(for: record)
        if let field = record.missing(of: fields).first {
            return .init(field: field.key, step: field.step, blocking: true, reason: "required")
        }
        return fields.first { isAskedFor($0, record, now: now) }
            .map { .init(field: $0.key, step: $0.step, blocking: false, reason: "encouraged") }
    }

    /// The state of a field after a skip.
    ///
    /// - Parameter clear: whether an answer may be deleted.
    /// - Returns: `nil` if nothing changes. A second skip counts only after the field was asked for again.
    /// - Throws: ``BusError`` `has_value` if there is an answer and `clear` is `false`.
    func skipped(
        _ field: ProfileField, in record: ProfileRecord, clear: Bool, now: Timestamp
    ) throws(BusError) -> FieldState? {
        switch record.fields[field] {
        case .answered, .declined, .stale:
            // A skip does not remove a photo. The person removes it where they uploaded it.
            guard clear, !field.isPhoto else {
                throw BusError(.hasValue, "This has an answer already. Clear it first.")
            }
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

/// Fields of a step that is asked only of some people.
struct ConditionalFields: Sendable {
    let condition: PlanCondition
    /// The keys of the fields.
    let keys: Set<String>
}
