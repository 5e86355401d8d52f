import BusProtocol
import BusRuntime
import EventLoop

struct SendOTPHandler: RequestHandler {
    let phones: PhonePolicy
    let sms: MessageSender
    let codes: CodeSender

    func handle(_ request: SendOTP, context: RequestContext) async throws -> OTPSent {
        let phone = try phones.number(request.phone)
        try sms.refuseWhileDown()
        return try await codes.send(to: .phone(phone), by: request.device, replacing: request.replaces, context) {
            try await codes.acts.act(of: request, context, in: $0)
        } reply: { [limits = codes.limits] id in
            OTPSent(
                challengeId: id, expiresInSeconds: limits.lifetime, resendAfterSeconds: limits.resendAfter,
                codeLength: ChallengeLimits.codeLength, maskedPhone: phone.masked)
        }
    }
}
