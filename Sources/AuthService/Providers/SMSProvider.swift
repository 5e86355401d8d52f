import BusProtocol
import EventLoop

/// One SMS as it is handed to a provider.
struct OutgoingSMS: Sendable {
    /// The same at every attempt, so that who gets it twice can tell.
    var id: Identifier
    /// E.164.
    var to: String
    var body: String
}

/// Why a provider took no SMS. It never carries a number, a text or what the provider wrote.
enum SMSError: Error, Equatable {
    /// This provider cannot now; another one may.
    ///
    /// - Parameters:
    ///   - host: of the provider; `nil` for the spool.
    ///   - failure: fit to be logged.
    case notTaken(host: String?, ProviderFailure)
    /// No provider can reach this number.
    case unusableNumber
}

extension SMSError {
    /// What became of a question that brought no acceptance.
    static func notTaken(_ host: String?, _ answer: Result<ProviderAnswer, ProviderFailure>) -> SMSError {
        switch answer {
        case .success(let answer): .notTaken(host: host, ProviderFailure("http_\(answer.status)"))
        case .failure(let failure): .notTaken(host: host, failure)
        }
    }
}

/// Somebody who sends SMS.
protocol SMSProvider: Sendable {
    /// As in `SMS_PROVIDER`; stands in the log.
    var name: String { get }

    /// Returns when the provider has the SMS.
    ///
    /// - Parameter limit: after it the attempt counts as failed, whatever becomes of it.
    @Loop func send(_ sms: OutgoingSMS, within limit: Duration) async throws(SMSError)
}
