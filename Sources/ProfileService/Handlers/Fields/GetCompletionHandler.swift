import BusProtocol
import BusRuntime
import EventLoop

struct GetCompletionHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetCompletion, context: RequestContext) async throws -> Completion {
        profile.completion(of: try await profile.store.ensured(context.person().userID))
    }
}
