import EventLoop
import JSONText
import ProviderHTTP

/// Posts each SMS, email or push to a URL, whose owner sends it.
///
/// If the response was lost, the message is posted again with the same idempotency key. The status 2xx accepts the
/// message. The status 410 says that a push token is dead.
struct WebhookProvider: MessageProvider, PushProvider {
    let name = "webhook"
    let webhook: Webhook

    @Loop func send(_ message: OutgoingMessage, within limit: Duration) async throws(MessageError) {
        let answer = await ProviderClient.ask(
            webhook.request(message.id, message.webhook.jsonBytes), within: limit)
        guard case .success(let taken) = answer, 200...299 ~= taken.status else {
            throw .notTaken(webhook.url.host, answer)
        }
    }

    @Loop func send(_ push: OutgoingPush, within limit: Duration) async throws(PushError) {
        let answer = await ProviderClient.ask(webhook.request(push.id, push.message.jsonBytes), within: limit)
        guard case .success(let taken) = answer else { throw .notTaken(answer) }
        guard 200...299 ~= taken.status else { throw taken.status == 410 ? .deadToken : .notTaken(answer) }
    }
}
