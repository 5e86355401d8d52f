import BusProtocol
import EventLoop
import Foundation
import FoundationNetworking
import JSONText
import ProviderHTTP

/// Asks a judge of the operator's own by a signed POST.
///
/// The judge gets an address of the picture and not the picture. So a question stays small and can be asked again for a verdict
/// that is not there yet, and a question that goes astray carries no face: its address ends within a minute.
struct WebhookJudge: Judge {
    let webhook: Webhook
    let photos: PhotoStore

    /// A person waits for the verdict. The outbox holds a question for 30 s.
    private static let patience = Duration.seconds(10)

    @Loop func answer(on capture: JudgedCapture) async throws -> JudgeAnswer {
        guard let media = capture.media, let shown = try await photos.shown(media) else { return .captureMissing }
        let question: JSONValue = [
            "session": .string(capture.session.description), "attempt": .integer(Int64(capture.attempt)),
            "contentType": .string(shown.contentType),
            "pictureUrl": .string(photos.url(forOneLookAt: media, at: .now())),
        ]
        return try await Self.ask(webhook.request(capture.session, CanonicalJSON.bytes(of: question)))
    }

    /// Sends a question.
    @Loop static func ask(
        _ request: URLRequest, within limit: Duration = patience
    ) async throws(JudgeError) -> JudgeAnswer {
        switch await ProviderClient.ask(request, within: limit) {
        case .success(let answer): return try read(answer)
        case .failure(let failure): throw JudgeError(failure.reason)
        }
    }

    /// Reads an answer: 200 with a verdict, or 202.
    static func read(_ answer: ProviderAnswer) throws(JudgeError) -> JudgeAnswer {
        switch answer.status {
        case 200: break
        case 202: return .later
        default: throw JudgeError("http_\(answer.status)", retryAfter: answer.retryAfter)
        }
        guard let body = try? JSONValue.parse(answer.body), let text = body["verdict"]?.stringValue else {
            throw JudgeError("answer_unreadable")
        }
        guard let verdict = Verdict(rawValue: text) else { throw JudgeError("unknown_verdict") }
        switch body["final"] {
        case nil, .bool(false)?: return .verdict(verdict)
        case .bool(true)? where verdict != .verified: return .verdict(verdict, isFinal: true)
        default: throw JudgeError("unknown_verdict")
        }
    }
}
