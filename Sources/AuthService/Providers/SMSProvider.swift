import BusProtocol
import EventLoop

/// An SMS for a provider.
struct OutgoingSMS: Sendable {
    /// The same id at every attempt, so that the provider can detect a repeat.
    var id: Identifier
    /// The number in E.164 form.
    var to: String
    var body: String

    /// As the spool and the webhook have it.
    var message: SMSWebhook { SMSWebhook(id: id, to: to, body: body, at: .now()) }
}

/// Why a provider did not accept an SMS. It never contains a number, a text or what the provider wrote.
enum SMSError: Error, Equatable {
    /// The attempt failed. Another provider may accept the SMS.
    ///
    /// - Parameters:
    ///   - host: of the provider; `nil` for the spool.
    ///   - failure: contains nothing secret, so it may be logged.
    case notTaken(host: String?, ProviderFailure)
    /// No provider can reach this number.
    case unusableNumber
}

extension SMSError {
    /// The error for a response that is not an acceptance, or for a missing response.
    static func notTaken(_ host: String?, _ answer: Result<ProviderAnswer, ProviderFailure>) -> SMSError {
        switch answer {
        case .success(let answer): .notTaken(host: host, ProviderFailure("http_\(answer.status)"))
        case .failure(let failure): .notTaken(host: host, failure)
        }
    }
}

/// A service that sends SMS.
protocol SMSProvider: Sendable {
    /// The name in `SMS_PROVIDER` and in the log.
    var name: String { get }

    /// Returns when the provider has accepted the SMS.
    ///
    /// - Parameter limit: after this time the attempt counts as failed, though the SMS may still be sent.
    @Loop func send(_ sms: OutgoingSMS, within limit: Duration) async throws(SMSError)
}
