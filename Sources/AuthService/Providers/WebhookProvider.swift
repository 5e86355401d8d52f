import BusProtocol
import Cryptography
import EventLoop
import Foundation
import FoundationNetworking
import JSONText

/// Posts each SMS as signed JSON to one address, whose owner sends it.
///
/// `Vestibule-Signature` is `v1=` and the HMAC-SHA-256, in hex, of `Vestibule-Timestamp` (seconds since 1970), a dot and
/// the body. `Idempotency-Key` is the SMS's id: an SMS whose answer was lost comes again with it. 2xx takes the SMS.
struct WebhookProvider: SMSProvider {
    let name = "webhook"
    let url: URL
    let key: [UInt8]

    @Loop func send(_ sms: OutgoingSMS, within limit: Duration) async throws(SMSError) {
        guard let answer = await ProviderClient.ask(request(sms), within: limit), 200...299 ~= answer.status else {
            throw .notTaken
        }
    }

    private func request(_ sms: OutgoingSMS) -> URLRequest {
        let body = CanonicalJSON.bytes(
            of: [
                "id": .string(sms.id.description), "to": .string(sms.to), "body": .string(sms.body),
                "at": .string(Timestamp.now().description),
            ])
        let timestamp = "\(Int64(Date().timeIntervalSince1970))"
        let signature = Hex.encode(HMACSHA256.code(for: Array("\(timestamp).".utf8) + body, key: key))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(sms.id.description, forHTTPHeaderField: "Idempotency-Key")
        request.setValue(timestamp, forHTTPHeaderField: "Vestibule-Timestamp")
        request.setValue("v1=\(signature)", forHTTPHeaderField: "Vestibule-Signature")
        return request
    }
}
