import BusProtocol
import BusRuntime
import EventLoop

struct GetMeHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetMe, context: RequestContext) async throws -> Me {
        let planned = try await profile.planned(context)
        return profile.view(planned.record, planned.plan, in: .named(context.language))
    }
}
