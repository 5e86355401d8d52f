import BusProtocol
import EventLoop
import ProviderHTTP

/// A push for a provider.
struct OutgoingPush: Sendable {
    /// The same id at every attempt, so that the provider can detect a repeat.
    var id: Identifier
    /// The same id for all devices that get the notification.
    var notificationID: Identifier
    var personID: Identifier
    var deviceID: Identifier
    var token: String
    var title: String
    var body: String
    var data: [String: String]

    /// As the spool and the webhook have it.
    var message: PushWebhook {
        PushWebhook(
            id: id, userId: personID, deviceId: deviceID, pushToken: token, title: title, body: body, data: data,
            at: .now())
    }
}

/// Why a provider did not accept a push. It never contains a token, a text or what the provider wrote.
enum PushError: Error, Equatable {
    /// The attempt failed. `reason` is for the log (`http_503`, `connection_refused`). `retryAfter` is how long the
    /// provider asks to wait, if it does.
    case notTaken(reason: String, retryAfter: Duration?)
    /// The provider no longer knows the token.
    case deadToken
}

/// A service that sends pushes.
protocol PushProvider: Sendable {
    /// Returns when the provider has accepted the push.
    ///
    /// - Parameter limit: after this time the attempt counts as failed, though the push may still be sent.
    @Loop func send(_ push: OutgoingPush, within limit: Duration) async throws(PushError)
}

extension PushError {
    /// The error for a response that is not an acceptance, or for a missing response.
    static func notTaken(_ answer: Result<ProviderAnswer, ProviderFailure>) -> PushError {
        switch answer {
        case .success(let answer): .notTaken(reason: "http_\(answer.status)", retryAfter: answer.retryAfter)
        case .failure(let failure): .notTaken(reason: failure.reason, retryAfter: nil)
        }
    }
}
