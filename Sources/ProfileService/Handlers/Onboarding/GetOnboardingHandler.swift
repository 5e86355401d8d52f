import BusProtocol
import BusRuntime
import EventLoop

struct GetOnboardingHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetOnboarding, context: RequestContext) async throws -> OnboardingState {
        // An unknown app is refused before a profile is created.
        _ = try await profile.plans.current(for: request.app)
        let record = try await profile.ensured(request.personID)
        let plan = try await profile.plan(of: record, in: request.app, entry: request.entry)
        let position = Onboarding.Position(of: record, plan, today: profile.today(of: record))
        return OnboardingState(onboardingStatus: position.onboardingStatus)
    }
}
