import BusProtocol
import BusRuntime
import EventLoop

struct GetOnboardingHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetOnboarding, context: RequestContext) async throws -> OnboardingState {
        let record = try await profile.store.ensured(request.personID)
        let standing = Onboarding.Standing(of: record, profile.policy, today: profile.today(of: record))
        return OnboardingState(onboardingStatus: standing.onboardingStatus)
    }
}
