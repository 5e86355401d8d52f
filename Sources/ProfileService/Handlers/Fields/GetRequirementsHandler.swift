import BusProtocol
import BusRuntime
import EventLoop

struct GetRequirementsHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetRequirements, context: RequestContext) async throws -> Requirements {
        let record = try await profile.store.ensured(context.person().userID)
        var requirements = RequirementRules.requirements(
            of: record, profile.policy, today: profile.today(of: record))
        requirements.ageGate = profile.ageGate(until: requirements.eligibleOn)
        return requirements
    }
}
