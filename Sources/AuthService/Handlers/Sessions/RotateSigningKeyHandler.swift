import BusProtocol
import BusRuntime
import EventLoop

struct RotateSigningKeyHandler: RequestHandler {
    let keys: SigningKeyRotator

    func handle(_ request: RotateSigningKey, context: RequestContext) async throws -> SigningKeyRotated {
        try await keys.rotate()
    }
}
