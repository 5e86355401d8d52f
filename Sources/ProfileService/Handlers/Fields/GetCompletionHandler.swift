import BusProtocol
import BusRuntime
import EventLoop

struct GetCompletionHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetCompletion, context: RequestContext) async throws -> Completion {
        let planned = try await profile.planned(context)
        return planned.plan.completion.completion(of: planned.record, now: .now())
    }
}
