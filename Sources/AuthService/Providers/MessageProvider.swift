import BusProtocol
import EventLoop
import JSONText
import ProviderHTTP

/// An SMS or an email for a provider.
struct OutgoingMessage: Sendable {
    /// The same id at every attempt, so that the provider can detect a repeat.
    var id: Identifier
    /// The number in E.164 form, or the email address.
    var to: String
    /// The subject of an email; `nil` for an SMS.
    var subject: String?
    var body: String

    /// As the spool and the webhook have it.
    var webhook: any JSONCoded {
        guard let subject else { return SMSWebhook(id: id, to: to, body: body, at: .now()) }
        return EmailWebhook(id: id, to: to, subject: subject, body: body, at: .now())
    }
}

/// Why a provider did not accept a message. It never contains a contact, a text or what the provider wrote.
enum MessageError: Error, Equatable {
    /// The attempt failed. Another provider may accept the message.
    ///
    /// - Parameters:
    ///   - host: of the provider; `nil` for the spool.
    ///   - failure: contains nothing secret, so it may be logged.
    case notTaken(host: String?, ProviderFailure)
    /// No provider can reach this number or address.
    case unusableContact
}

extension MessageError {
    /// The error for a response that is not an acceptance, or for a missing response.
    static func notTaken(_ host: String?, _ answer: Result<ProviderAnswer, ProviderFailure>) -> MessageError {
        switch answer {
        case .success(let answer): .notTaken(host: host, ProviderFailure("http_\(answer.status)"))
        case .failure(let failure): .notTaken(host: host, failure)
        }
    }
}

/// A service that sends SMS, emails or both.
protocol MessageProvider: Sendable {
    /// The name in `SMS_PROVIDER` or `EMAIL_PROVIDER` and in the log.
    var name: String { get }

    /// Returns when the provider has accepted the message.
    ///
    /// - Parameter limit: after this time the attempt counts as failed, though the message may still be sent.
    @Loop func send(_ message: OutgoingMessage, within limit: Duration) async throws(MessageError)
}

extension ProviderFailure {
    /// Whether the provider refused this one contact. It says nothing about the next one: otherwise anybody could make a
    /// provider look down by an address that it refuses.
    var isAboutContact: Bool {
        ["no_smtputf8", "http_400", "http_410", "http_422"].contains(reason) || reason.hasPrefix("recipient_")
    }
}
