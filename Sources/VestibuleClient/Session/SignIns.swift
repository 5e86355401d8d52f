/// A request that signs a device in. ``Vestibule`` adds the device's id and secret from the last time.
protocol SigningIn: Encodable, Sendable { var device: DeviceClaim { get set } }

extension VerifyOTPRequest: SigningIn {}
extension VerifyEmailCodeRequest: SigningIn {}
extension SignInWithAppleRequest: SigningIn {}
extension SignInWithGoogleRequest: SigningIn {}
extension CompleteRecoveryRequest: SigningIn {}

/// A request for a code. The server allows more of them from a known device.
protocol AskingForCode: Encodable, Sendable { var device: SendOTPProof? { get set } }

extension SendOTPRequest: AskingForCode {}
extension SendEmailCodeRequest: AskingForCode {}

/// A reply that may open a session.
protocol SigningInReply { var opened: Session? { get } }

extension Session: SigningInReply { var opened: Session? { self } }
extension SocialSignedIn: SigningInReply {
    var opened: Session? { if case .session(let session) = self { session } else { nil } }
}

extension Call {
    /// The call with the proof of this device, if it has none yet.
    func from(_ device: SendOTPProof) -> Self {
        var call = self
        if var claim = body as? any SigningIn, claim.device.id == nil, claim.device.secret == nil {
            (claim.device.id, claim.device.secret) = (device.id, device.secret)
            call.body = claim
        } else if var request = body as? any AskingForCode, request.device == nil {
            request.device = device
            call.body = request
        }
        return call
    }

    /// Whether ``from(_:)`` may change it.
    var isOfDevice: Bool { body is any SigningIn || body is any AskingForCode }
}
