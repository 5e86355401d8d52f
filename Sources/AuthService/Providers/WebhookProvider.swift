import BusProtocol
import Cryptography
import EventLoop
import Foundation
import FoundationNetworking
import JSONText

/// Posts each SMS, email or push as signed JSON to a URL, whose owner sends it.
///
/// `Vestibule-Signature` is `v1=` and the HMAC-SHA-256, in hex, of `Vestibule-Timestamp` (seconds since 1970), a dot
/// and the body. `Idempotency-Key` is the message's id. A message is posted again, with the same key, if its response
/// was lost. 2xx accepts the message. 410 says that a push token is dead.
struct WebhookProvider: MessageProvider, PushProvider {
    let name = "webhook"
    let url: URL
    let key: [UInt8]

    @Loop func send(_ message: OutgoingMessage, within limit: Duration) async throws(MessageError) {
        let answer = await ProviderClient.ask(request(message.id, message.webhook), within: limit)
        guard case .success(let taken) = answer, 200...299 ~= taken.status else { throw .notTaken(url.host, answer) }
    }

    @Loop func send(_ push: OutgoingPush, within limit: Duration) async throws(PushError) {
        let answer = await ProviderClient.ask(request(push.id, push.message), within: limit)
        guard case .success(let taken) = answer else { throw .notTaken(answer) }
        guard 200...299 ~= taken.status else { throw taken.status == 410 ? .deadToken : .notTaken(answer) }
    }

    private func request(_ id: Identifier, _ message: some JSONCoded) -> URLRequest {
        let body = message.jsonBytes
        let timestamp = "\(Int64(Date().timeIntervalSince1970))"
        let signature = Hex.encode(HMACSHA256.code(for: Array("\(timestamp).".utf8) + body, key: key))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(id.description, forHTTPHeaderField: "Idempotency-Key")
        request.setValue(timestamp, forHTTPHeaderField: "Vestibule-Timestamp")
        request.setValue("v1=\(signature)", forHTTPHeaderField: "Vestibule-Signature")
        return request
    }
}
