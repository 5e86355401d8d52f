import BusProtocol

/// The steps and fields that the newest version of a plan adds for people who follow an older one.
///
/// The additions change neither these people's steps nor their capabilities, and keep no onboarding open.
struct PlanAdditions: Sendable {
    /// A step or field that a person has not done yet.
    struct Open: Sendable, Equatable {
        let key: String
        let dueAt: Timestamp
    }

    let newest: Plan
    /// The steps with a date that the followed version does not require as they are, in order.
    let steps: [Plan.Step]
    /// The fields with a date that the followed version does not require, in order.
    private let fields: [(field: ProfileField, dueAt: Timestamp)]

    init(of newest: Plan, to followed: Plan) {
        self.newest = newest
        steps = newest.steps.filter { step in
            guard newest.dates[step.key] != nil else { return false }
            guard let known = followed.step(step.key) else { return true }
            // A step of another kind under the same key is no addition.
            return known.kindName == step.kindName
                && (known.need != .required || known.terms.map(\.key) != step.terms.map(\.key))
        }
        fields = newest.catalogue.fields.compactMap { field in
            guard let dueAt = newest.dates[field.key],
                followed.catalogue.field(field.key)?.category != .required
            else { return nil }
            return (field, dueAt)
        }
    }

    /// The fields that people may answer: those of the followed version, and those that only the newest one has. A
    /// field with a date follows the rules of the newest version.
    func answerable(beside catalogue: FieldCatalogue) -> FieldCatalogue {
        catalogue.adding(newest.catalogue.fields, replacing: Set(fields.map(\.field.key)))
    }

    /// The steps that the person is asked for.
    func steps(for record: ProfileRecord) -> [Plan.Step] { steps.filter { $0.isVisible(to: record) } }

    /// The additions that the person has not done yet. It leaves out a verification that is under way or that the
    /// person declined, and visual preferences that the person deferred.
    func open(for record: ProfileRecord) -> [Open] {
        let steps = steps(for: record).compactMap { step -> Open? in
            guard let dueAt = newest.dates[step.key], !Onboarding.isSettled(step, record) else { return nil }
            return Open(key: step.key, dueAt: dueAt)
        }
        let hidden = newest.completion.hidden(from: record)
        return steps
            + fields.filter { !hidden.contains($0.field.key) && !record.isSatisfied($0.field) }
            .map { Open(key: $0.field.key, dueAt: $0.dueAt) }
    }

    /// Whether a capability needs a step or field in the newest version.
    func isNeeded(_ key: String, for capability: Plan.Capability) -> Bool {
        newest.capabilities[capability]?.due.contains(key) ?? false
    }
}
