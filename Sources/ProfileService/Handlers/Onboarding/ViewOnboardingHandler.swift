import BusProtocol
import BusRuntime
import EventLoop

struct ViewOnboardingHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: ViewOnboarding, context: RequestContext) async throws -> OnboardingView {
        let planned = try await profile.planned(context)
        var view = Onboarding.view(of: planned.record, planned.plan, today: profile.today(of: planned.record))
        view.ageGate = profile.ageGate(until: view.eligibleOn, planned.plan, in: .named(context.language))
        return view
    }
}
