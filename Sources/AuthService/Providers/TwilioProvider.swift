import EventLoop
import Foundation
import FoundationNetworking
import JSONText
import ProviderHTTP

/// Sends SMS by Twilio's Messages resource, or by a server with the same API.
struct TwilioProvider: MessageProvider {
    let name = "twilio"
    let base: URL
    let account: String
    let token: String
    /// The sender: a number, a name, or the sid of a messaging service.
    let from: String

    /// The error codes that say that the number cannot get an SMS: it is invalid, not a phone, or not a mobile phone.
    ///
    /// Source: Twilio's list of error codes. After any other error, another provider may still succeed.
    private static let unusable: Set<JSONValue> = [21211, 21217, 21614]

    @Loop func send(_ sms: OutgoingMessage, within limit: Duration) async throws(MessageError) {
        let answer = await ProviderClient.ask(request(sms), within: limit)
        if case .success(let answer) = answer {
            guard !(200...299 ~= answer.status) else { return }
            let code = answer.status == 400 ? try? JSONValue.parse(answer.body)["code"] : nil
            if let code, Self.unusable.contains(code) { throw .unusableContact }
        }
        throw .notTaken(base.host, answer)
    }

    private func request(_ sms: OutgoingMessage) -> URLRequest {
        let sender = from.hasPrefix("MG") ? "MessagingServiceSid" : "From"
        let form = [("To", sms.to), (sender, from), ("Body", sms.body)]
        var request = URLRequest(
            posting: form, to: base.appending(path: "2010-04-01/Accounts/\(account)/Messages.json"))
        let credentials = Data("\(account):\(token)".utf8).base64EncodedString()
        request.setValue("Basic \(credentials)", forHTTPHeaderField: "Authorization")
        return request
    }
}
