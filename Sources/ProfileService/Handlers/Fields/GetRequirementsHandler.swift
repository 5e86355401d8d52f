import BusProtocol
import BusRuntime
import EventLoop

struct GetRequirementsHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetRequirements, context: RequestContext) async throws -> Requirements {
        let planned = try await profile.planned(context)
        var requirements = RequirementRules.requirements(
            of: planned.record, planned.plan, today: profile.today(of: planned.record), now: .now())
        requirements.ageGate = profile.ageGate(
            until: requirements.eligibleOn, planned.plan, in: .named(context.language))
        return requirements
    }
}
