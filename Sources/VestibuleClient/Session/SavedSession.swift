import Foundation

/// The state that a device keeps between two starts of the app.
struct SavedSession: Codable, Sendable, Equatable {
    /// The number of changes. If a process reads a higher number than it knew, the state has changed.
    var generation = 0
    /// The device as the server knows it. It outlives the session.
    var device: SendOTPProof?
    /// `nil` while nobody is signed in.
    var tokens: SavedTokens?
}

/// The tokens of a session.
struct SavedTokens: Codable, Sendable, Equatable {
    var person: UUID
    var accessToken: String
    var refreshToken: String
    /// When the access token ends, by the device's clock.
    var endsAt: Date
}

extension SavedSession {
    /// The device with a session that the server just opened or renewed.
    ///
    /// - Parameter claimed: the device's secret in the request. The server does not repeat it in the reply.
    func taking(_ session: Session, claimed: String?, at now: Date) -> SavedSession {
        let known = device.flatMap { $0.id == session.deviceId ? $0.secret : nil }
        let secret = session.deviceSecret ?? known ?? claimed
        return SavedSession(
            generation: generation + 1, device: secret.map { SendOTPProof(id: session.deviceId, secret: $0) },
            tokens: SavedTokens(
                person: session.user.id, accessToken: session.accessToken, refreshToken: session.refreshToken,
                endsAt: now.addingTimeInterval(TimeInterval(session.expiresInSeconds))))
    }

    /// The device after its session ended.
    var signedOut: SavedSession { SavedSession(generation: generation + 1, device: device) }
}

/// Whether somebody is signed in on this device.
public enum SessionState: Sendable, Equatable {
    /// This person is.
    case signedIn(person: UUID)
    /// Nobody is signed in. `because` is the code with which the server ended the session. It is `nil` if nobody had
    /// signed in, or if the person signed out here.
    case signedOut(because: ProblemCode?)
}
