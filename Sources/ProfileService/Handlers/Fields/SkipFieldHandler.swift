import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct SkipFieldHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: SkipField, context: RequestContext) async throws -> Completion {
        let planned = try await profile.planned(context)
        let (person, plan) = (planned.record.personID, planned.plan)
        guard let field = plan.answerable.field(request.field) else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [.init(field: "field", code: "not_allowed", message: "There is no such field.")])
        }
        guard field.isSkippable else { throw BusError(.fieldNotSkippable, "This is needed and cannot be skipped.") }
        return try await profile.inbox.once(context) { transaction in
            let record = try await profile.locked(person, in: transaction)
            let skipped = try plan.completion.skipped(
                field, in: record, clear: request.clear ?? false, now: .now())
            guard let skipped else { return .reply(plan.completion.completion(of: record, now: .now())) }
            var change = ProfileChange([:], to: record, plan.catalogue, today: profile.today(of: record))
            change.states[field.key] = .some(skipped)
            let changed = record.changed(by: change)
            profile.noteProgress(from: record, to: changed, try await profile.plans(of: record), in: transaction)
            let written = try await profile.store.apply(
                change, to: record, isComplete: plan.completion.isComplete(changed), in: transaction)
            return .reply(plan.completion.completion(of: written, now: .now()))
        }
    }
}
