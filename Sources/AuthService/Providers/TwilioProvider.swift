import EventLoop
import Foundation
import FoundationNetworking
import JSONText

/// Sends by Twilio's Messages resource, or by whoever speaks as it does.
struct TwilioProvider: SMSProvider {
    let name = "twilio"
    let base: URL
    let account: String
    let token: String
    /// A number, a name, or the sid of a messaging service.
    let from: String

    /// Error codes that are about the number, not about Twilio: invalid, not a phone's, not a mobile.
    ///
    /// Source: Twilio's list of error codes. Any other one may be different with another provider.
    private static let unusable: Set<JSONValue> = [21211, 21217, 21614]

    @Loop func send(_ sms: OutgoingSMS, within limit: Duration) async throws(SMSError) {
        let answer = await ProviderClient.ask(request(sms), within: limit)
        if case .success(let answer) = answer {
            guard !(200...299 ~= answer.status) else { return }
            let code = answer.status == 400 ? try? JSONValue.parse(answer.body)["code"] : nil
            if let code, Self.unusable.contains(code) { throw .unusableNumber }
        }
        throw .notTaken(base.host, answer)
    }

    private func request(_ sms: OutgoingSMS) -> URLRequest {
        let sender = from.hasPrefix("MG") ? "MessagingServiceSid" : "From"
        let form = [("To", sms.to), (sender, from), ("Body", sms.body)]
        var request = URLRequest(
            posting: form, to: base.appending(path: "2010-04-01/Accounts/\(account)/Messages.json"))
        let credentials = Data("\(account):\(token)".utf8).base64EncodedString()
        request.setValue("Basic \(credentials)", forHTTPHeaderField: "Authorization")
        return request
    }
}
