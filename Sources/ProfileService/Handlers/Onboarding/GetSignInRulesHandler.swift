import BusProtocol
import BusRuntime
import EventLoop

struct GetSignInRulesHandler: RequestHandler {
    let plans: PublishedPlans

    func handle(_ request: GetSignInRules, context: RequestContext) async throws -> SignInRules {
        let plan = try await plans.current(for: request.app)
        if let entry = request.entry, !plan.entries.contains(entry) {
            throw BusError(.entryUnknown, "There is no such entry.")
        }
        return SignInRules(methods: plan.signIn.methods, phone: plan.signIn.phone.rawValue)
    }
}
