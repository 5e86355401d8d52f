import BusProtocol
import EventLoop
import Foundation
import FoundationNetworking
import JSONText
import ProviderHTTP

/// Asks a judge of the operator's own about a picture, by a signed POST.
///
/// The judge gets an address of the picture and not the picture. So a question is small, and can be repeated until
/// there is a verdict. A question that goes astray contains no face, and its address expires within a minute.
struct PictureWebhook: Sendable {
    /// The answer of a judge with status 200.
    struct Answer: Sendable {
        let verdict: String
        let body: JSONValue
    }

    let webhook: Webhook
    let photos: PhotoStore

    /// A person waits for the verdict. The outbox holds a question for 30 s.
    private static let patience = Duration.seconds(10)

    /// Makes a question about a picture.
    ///
    /// - Parameters:
    ///   - id: the same for each repetition of the question.
    ///   - members: the members of the question beside the picture.
    /// - Returns: `nil` if there is no such picture.
    @Loop func question(
        _ id: Identifier, about media: Identifier, _ members: [String: JSONValue]
    ) async throws -> URLRequest? {
        guard let shown = try await photos.shown(media) else { return nil }
        let picture: [String: JSONValue] = [
            "contentType": .string(shown.contentType),
            "pictureUrl": .string(photos.url(forOneLookAt: media, at: .now())),
        ]
        return webhook.request(id, CanonicalJSON.bytes(of: .object(members.merging(picture) { $1 })))
    }

    /// Sends a question.
    ///
    /// - Returns: `nil` if there is no verdict yet: the judge answered with 202.
    @Loop static func ask(
        _ request: URLRequest, within limit: Duration = patience
    ) async throws(JudgeError) -> Answer? {
        switch await ProviderClient.ask(request, within: limit) {
        case .success(let answer): return try read(answer)
        case .failure(let failure): throw JudgeError(failure.reason)
        }
    }

    private static func read(_ answer: ProviderAnswer) throws(JudgeError) -> Answer? {
        switch answer.status {
        case 200: break
        case 202: return nil
        default: throw JudgeError("http_\(answer.status)", retryAfter: answer.retryAfter)
        }
        guard let body = try? JSONValue.parse(answer.body), let text = body["verdict"]?.stringValue else {
            throw JudgeError("answer_unreadable")
        }
        return Answer(verdict: text, body: body)
    }
}

/// Asks a judge of the operator's own about a capture.
struct WebhookJudge: Judge {
    let webhook: PictureWebhook

    @Loop func answer(on capture: JudgedCapture) async throws -> JudgeAnswer {
        guard let media = capture.media,
            let question = try await webhook.question(
                capture.session, about: media,
                ["session": .string(capture.session.description), "attempt": .integer(Int64(capture.attempt))])
        else { return .captureMissing }
        return try Self.read(try await PictureWebhook.ask(question))
    }

    /// - Parameter answer: `nil` if there is no verdict yet.
    static func read(_ answer: PictureWebhook.Answer?) throws(JudgeError) -> JudgeAnswer {
        guard let answer else { return .later }
        guard let verdict = Verdict(ofPhoto: answer.verdict) else { throw JudgeError("unknown_verdict") }
        switch answer.body["final"] {
        case nil, .bool(false)?: return .verdict(verdict)
        case .bool(true)? where verdict != .verified: return .verdict(verdict, isFinal: true)
        default: throw JudgeError("unknown_verdict")
        }
    }
}
