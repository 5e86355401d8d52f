import BusProtocol
import EventLoop
import JSONText

/// One push as it is handed to a provider.
struct OutgoingPush: Sendable {
    /// The same at every attempt, so that who gets it twice can tell.
    var id: Identifier
    /// Several devices hear of one thing under the same id.
    var notificationID: Identifier
    var personID: Identifier
    var deviceID: Identifier
    var token: String
    var title: String
    var body: String
    var data: [String: String]

    /// As the spool and the webhook have it.
    var json: JSONValue {
        [
            "id": .string(id.description), "userId": .string(personID.description),
            "deviceId": .string(deviceID.description), "pushToken": .string(token), "title": .string(title),
            "body": .string(body), "data": .object(data.mapValues { .string($0) }),
            "at": .string(Timestamp.now().description),
        ]
    }
}

/// Why a provider took no push. It never carries a token, a text or what the provider wrote.
enum PushError: Error, Equatable {
    /// Not now, for a reason that stands in the log (`http_503`, `connection_refused`); `retryAfter` is when the provider wants to
    /// be asked again, where it said so.
    case notTaken(reason: String, retryAfter: Duration?)
    /// Nobody is behind the token any more.
    case deadToken
}

/// Somebody who sends pushes.
protocol PushProvider: Sendable {
    /// Returns when the provider has the push.
    ///
    /// - Parameter limit: after it the attempt counts as failed, whatever becomes of it.
    @Loop func send(_ push: OutgoingPush, within limit: Duration) async throws(PushError)
}

extension PushError {
    /// What an answer that took no push says of itself, or why there was none.
    static func notTaken(_ answer: Result<ProviderAnswer, ProviderFailure>) -> PushError {
        switch answer {
        case .success(let answer): .notTaken(reason: "http_\(answer.status)", retryAfter: answer.retryAfter)
        case .failure(let failure): .notTaken(reason: failure.reason, retryAfter: nil)
        }
    }
}
