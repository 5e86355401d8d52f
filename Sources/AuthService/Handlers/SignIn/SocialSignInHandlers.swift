import BusProtocol
import BusRuntime
import EventLoop

struct SignInWithAppleHandler: RequestHandler {
    let signIn: SocialSignIn

    func handle(_ request: SignInWithApple, context: RequestContext) async throws -> SocialSignedIn {
        let presented = SocialSignIn.Presented(
            provider: .apple, token: request.identityToken, nonce: request.nonce, device: request.device,
            authorizationCode: request.authorizationCode, app: request.app, entry: request.entry)
        return try await signIn.signIn(presented, context)
    }
}

struct SignInWithGoogleHandler: RequestHandler {
    let signIn: SocialSignIn

    func handle(_ request: SignInWithGoogle, context: RequestContext) async throws -> SocialSignedIn {
        let presented = SocialSignIn.Presented(
            provider: .google, token: request.identityToken, nonce: request.nonce, device: request.device,
            authorizationCode: nil, app: request.app, entry: request.entry)
        return try await signIn.signIn(presented, context)
    }
}
