import BusProtocol
import BusRuntime
import EventLoop

struct GetRequirementsHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetRequirements, context: RequestContext) async throws -> Requirements {
        let record = try await profile.store.ensured(context.person().userID)
        return RequirementRules.requirements(of: record, profile.policy, today: profile.today(of: record))
    }
}
