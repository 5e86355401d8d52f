import BusProtocol
import BusRuntime
import Database
import EventLoop

extension RequestContext {
    /// The request as the inbox knows it; `nil` where it came without an idempotency key.
    ///
    /// The key belongs to the person behind the request. Where nobody is signed in, the key itself is the caller when it
    /// is long enough not to be guessed, so that a phone that changed networks may still repeat; a short one belongs to
    /// the client's address.
    public var inboxRequest: InboxRequest? {
        guard let key = idempotencyKey else { return nil }
        let scope =
            if let actor { "person \(actor.userID)" } else if key.utf8.count >= 16 { "key" } else {
                "address \(clientAddress ?? "")"
            }
        return InboxRequest(scope: scope, key: key, type: type, body: body)
    }
}

extension Inbox {
    /// Answers a request once: see ``Inbox/once(_:carriesToken:_:)``.
    public func once<Reply: BusReply>(
        _ context: RequestContext, carriesToken: Bool = false,
        _ body: @Loop (Transaction) async throws -> Outcome<Reply>
    ) async throws -> Reply {
        let (reply, isReplay) = try await once(context.inboxRequest, carriesToken: carriesToken, body)
        context.isReplay = isReplay
        return reply
    }
}
