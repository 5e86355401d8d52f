import BusProtocol
import BusRuntime
import EventLoop

struct GetMeHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetMe, context: RequestContext) async throws -> Me {
        profile.view(try await profile.store.ensured(context.person().userID))
    }
}
