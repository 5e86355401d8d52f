import BusProtocol
import BusRuntime
import Database
import EventLoop

struct VerifyOTPHandler: RequestHandler {
    let signIn: CodeSignIn

    func handle(_ request: VerifyOTP, context: RequestContext) async throws -> Session {
        let answer = try await signIn.signIn(
            .init(
                challenge: request.challengeId, code: request.code, purpose: .login, device: request.device,
                confirmsLink: request.confirmLink ?? false, wantsNewAccount: request.newAccount ?? false,
                visitor: request.anonymousId, app: request.app, entry: request.entry),
            context)
        // After a code to a phone, the answer never asks for a phone.
        guard case .session(let session) = answer else { throw DatabaseError.aborted }
        return session
    }
}

struct VerifyEmailCodeHandler: RequestHandler {
    let signIn: CodeSignIn

    func handle(_ request: VerifyEmailCode, context: RequestContext) async throws -> SocialSignedIn {
        try await signIn.signIn(
            .init(
                challenge: request.challengeId, code: request.code, purpose: .emailLogin, device: request.device,
                visitor: request.anonymousId, app: request.app, entry: request.entry),
            context)
    }
}
