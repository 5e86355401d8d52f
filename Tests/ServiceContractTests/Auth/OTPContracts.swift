import BusProtocol

enum SendOTPContract: MessageContract {
    static let canonical = SendOTP(phone: "+1 (415) 555-2671")
    static let minimal = SendOTP(phone: "1")
    static let maximal = SendOTP(
        phone: String(repeating: "\u{664}", count: 64),
        device: .init(id: Sample.device, secret: String(repeating: "s", count: 128)),
        linkToken: String(repeating: "l", count: 256), purpose: "change_phone")

    static let canonicalReply = OTPSent(
        challengeId: Sample.challenge, expiresInSeconds: 300, resendAfterSeconds: 60, maskedPhone: "+1 (***) ***-2671")
    static let minimalReply = OTPSent(
        challengeId: Sample.challenge, expiresInSeconds: 1, resendAfterSeconds: 0, maskedPhone: "+")
    static let maximalReply = OTPSent(
        challengeId: Sample.challenge, expiresInSeconds: 3600, resendAfterSeconds: 3600,
        maskedPhone: String(repeating: "•", count: 64))

    static let errors: [BusError] = [
        Sample.invalidPhone, Sample.rateLimited,
        BusError(.otpLocked, "Too many attempts. Try again in 15 minutes.", retryAfter: .seconds(900)),
        BusError(.smsUnavailable, "No code can be sent right now. Please try again.", retryAfter: .seconds(30)),
        BusError(.notImplemented, "This is not available yet."),
    ]
}

enum VerifyOTPContract: MessageContract {
    static let canonical = VerifyOTP(challengeId: Sample.challenge, code: "042917", device: Sample.phone)
    static let minimal = VerifyOTP(challengeId: Sample.challenge, code: "000000", device: Sample.smallDevice)
    static let maximal = VerifyOTP(
        challengeId: Sample.challenge, code: "999999", device: Sample.fullDevice, confirmLink: true, newAccount: false,
        anonymousId: String(repeating: "å", count: 64))

    static let canonicalReply = Session(
        accessToken: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln", expiresInSeconds: 900, refreshToken: "rf_9d1c",
        sessionId: Sample.session, deviceId: Sample.device, deviceSecret: "ds_51ab", isNewUser: true,
        user: .init(id: Sample.person, onboardingStatus: "questionnaire_pending"))
    static let minimalReply = Session(
        accessToken: "a", expiresInSeconds: 1, refreshToken: "r", sessionId: Sample.session, deviceId: Sample.device,
        isNewUser: false, user: .init(id: Sample.person, onboardingStatus: nil))
    static let maximalReply = Session(
        accessToken: String(repeating: "a", count: 2048), expiresInSeconds: 86_400,
        refreshToken: String(repeating: "r", count: 128), sessionId: Sample.session, deviceId: Sample.device,
        deviceSecret: String(repeating: "d", count: 128), isNewUser: true,
        user: .init(id: Sample.person, onboardingStatus: String(repeating: "o", count: 32)))

    static let errors: [BusError] = [
        Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked,
        BusError(.forbidden, "This account is not available. Please contact support."),
    ]
}
