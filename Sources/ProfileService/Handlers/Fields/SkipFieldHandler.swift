import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct SkipFieldHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: SkipField, context: RequestContext) async throws -> Completion {
        let person = try context.person().userID
        guard let field = FieldCatalogue.field(request.field) else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [.init(field: "field", code: "not_allowed", message: "There is no such field.")])
        }
        guard field.isSkippable else { throw BusError(.fieldNotSkippable, "This is needed and cannot be skipped.") }
        return try await profile.inbox.once(context) { transaction in
            let record = try await profile.store.locked(person, in: transaction)
            let skipped = try profile.completion.skipped(
                field, in: record, clear: request.clear ?? false, now: .now())
            guard let skipped else { return .reply(profile.completion(of: record)) }
            var change = ProfileChange([:], to: record, today: profile.today(of: record))
            change.states[field.key] = .some(skipped)
            return .reply(profile.completion(of: try await profile.store.apply(change, to: record, in: transaction)))
        }
    }
}
