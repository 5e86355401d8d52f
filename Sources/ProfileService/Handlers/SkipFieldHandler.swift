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
        return try await profile.house.once(context) { transaction in
            let record = try await profile.store.locked(person, in: transaction)
            switch record.fields[field.key] {
            case .answered: throw BusError(.hasValue, "This has an answer already. Clear it first.")
            case .skipped: return .reply(CompletionRules.completion(of: record))
            case .declined, nil: break
            }
            var change = ProfileChange([:], to: record, today: profile.today)
            change.states[field.key] = .some(.skipped)
            return .reply(
                CompletionRules.completion(of: try await profile.store.apply(change, to: record, in: transaction)))
        }
    }
}
