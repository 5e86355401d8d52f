import BusProtocol
import BusRuntime
import EventLoop

struct GetProfileFieldsHandler: RequestHandler {
    let fields: ProfileFields

    func handle(_ request: GetProfileFields, context: RequestContext) async throws -> ProfileFields { fields }
}
