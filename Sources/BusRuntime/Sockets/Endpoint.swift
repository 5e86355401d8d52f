import BusProtocol
import EventLoop
import JSONText

/// A handler without its type: it takes bytes and returns the reply as it is sent.
struct Endpoint: Sendable {
    let rules: MessageRules
    /// The message is an event.
    let isEvent: Bool
    let answer: @Loop @Sendable (RequestContext) async throws -> RawReply

    /// Bodies larger than this, in bytes, are decoded off the loop. They would block the loop for milliseconds.
    private static let longBody = 16_384

    init<Handler: RequestHandler>(_ handler: Handler) {
        typealias Request = Handler.Request
        (rules, isEvent) = (Request.rules, Request.self is any BusEvent.Type)
        answer = { context in
            let body = context.body
            let request: Request =
                body.count > Self.longBody
                ? try await Loop.compute { try Self.decode(Request.self, body) } : try Self.decode(Request.self, body)
            let reply = try await handler.handle(request, context: context)
            let bytes = reply.jsonBytes
            guard bytes.count <= ZMQSocket.largestBody else {
                throw BusError(.internalError, "The answer is too large.", executed: .yes)
            }
            return RawReply(
                body: bytes, isReplay: context.isReplay, entityRevision: reply.entityRevision,
                entityTag: reply.entityTag, contentLanguage: reply.contentLanguage,
                hasOtherSuccess: reply.hasOtherSuccess)
        }
    }

    /// Unknown members are skipped, because a newer sender may have added them.
    static func decode<Request: BusRequest>(_ type: Request.Type, _ body: [UInt8]) throws -> Request {
        let document: JSONDocument
        do {
            document = try JSONDocument(body, limits: Request.rules.limits)
        } catch {
            throw BusError(.invalidMessage, "The message is not valid JSON: \(error).")
        }
        let problems = Request.schema.problems(in: document.root).filter { $0.code != "unknown_member" }
        guard problems.isEmpty else {
            throw BusError(
                .invalidMessage, "The message does not have the shape of \(Request.type).",
                errors: problems.map { .init(field: $0.field, pointer: $0.pointer, code: $0.code, message: $0.message) }
            )
        }
        do {
            return try Request(json: document.root)
        } catch {
            throw BusError(.invalidMessage, "The message cannot be read as \(Request.type).")
        }
    }
}

extension BusError {
    /// The body of an ERROR frame.
    var encoded: [UInt8] { (try? WireJSON.encode(self)) ?? [] }
}
