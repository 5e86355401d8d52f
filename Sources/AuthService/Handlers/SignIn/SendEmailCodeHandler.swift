import BusProtocol
import BusRuntime
import EventLoop

struct SendEmailCodeHandler: RequestHandler {
    let emails: MessageSender
    let codes: CodeSender

    func handle(_ request: SendEmailCode, context: RequestContext) async throws -> EmailCodeSent {
        guard !emails.isOff else { throw SignInPolicy.notOffered(.emailCode) }
        let address = try EmailAddress(request.email, field: "email")
        try emails.refuseWhileDown()
        return try await codes.send(to: .email(address), by: request.device, replacing: request.replaces, context) {
            try await codes.acts.act(of: request, context, in: $0)
        } reply: { [limits = codes.limits] id in
            EmailCodeSent(
                challengeId: id, expiresInSeconds: limits.lifetime, resendAfterSeconds: limits.resendAfter,
                codeLength: ChallengeLimits.codeLength, maskedEmail: address.masked)
        }
    }
}
