import BusProtocol
import BusRuntime
import EventLoop

struct ViewOnboardingHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: ViewOnboarding, context: RequestContext) async throws -> OnboardingView {
        let record = try await profile.store.ensured(context.person().userID)
        var view = Onboarding.view(of: record, profile.policy, today: profile.today(of: record))
        view.ageGate = profile.ageGate(until: view.eligibleOn)
        return view
    }
}
