import BusProtocol
import BusRuntime
import EventLoop

struct GetSigningKeysHandler: RequestHandler {
    let keys: SigningKeyRotator

    func handle(_ request: GetSigningKeys, context: RequestContext) async throws -> SigningKeys { try keys.published }
}
