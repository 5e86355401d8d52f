import BusProtocol
import BusRuntime
import EventLoop

struct GetProfileFieldsHandler: RequestHandler {
    let plans: PublishedPlans
    let libraries: PublishedLibraries

    func handle(_ request: GetProfileFields, context: RequestContext) async throws -> ProfileFields {
        // A questionnaire may fill any field, whether or not the plan has it.
        let catalogue =
            context.caller == .questionnaire
            ? try await libraries.current().catalogue : try await plans.current(for: context.actor?.app).catalogue
        guard let view = catalogue.view(for: request.acceptLanguage) else {
            throw BusError(.notFound, "There is no catalogue.")
        }
        return view
    }
}
