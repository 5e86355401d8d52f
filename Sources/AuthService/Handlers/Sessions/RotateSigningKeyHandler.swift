import BusProtocol
import BusRuntime
import EventLoop

struct RotateSigningKeyHandler: RequestHandler {
    let keys: SigningKeyStore

    func handle(_ request: RotateSigningKey, context: RequestContext) async throws -> SigningKeyRotated {
        try await keys.rotate()
    }
}
