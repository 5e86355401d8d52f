import BusProtocol
import BusRuntime
import Database
import EventLoop

extension RequestContext {
    /// The request as the inbox identifies it; `nil` without an idempotency key.
    ///
    /// The key belongs to the signed-in person. If nobody is signed in, a key of at least 16 bytes belongs to every
    /// caller who knows it, because it cannot be guessed. So a phone may repeat the request after it changed networks.
    /// A shorter key belongs to the client's address.
    package var inboxRequest: InboxRequest? {
        guard let key = idempotencyKey else { return nil }
        let scope =
            if let actor { "person \(actor.userID)" } else if key.utf8.count >= 16 { "key" } else {
                "address \(clientAddress ?? "")"
            }
        return InboxRequest(scope: scope, key: key, type: type, body: body)
    }

    /// The message itself as the inbox identifies it. The bus repeats an idempotent request under the same ID.
    fileprivate var inboxMessage: InboxRequest {
        InboxRequest(
            scope: "message of \(actor?.userID.description ?? "nobody")",
            key: "\(IdempotencyKey.gatewayPrefix)\(messageID)", type: type, body: body)
    }
}

extension Inbox {
    /// Executes a request once: see ``Inbox/once(_:carriesToken:_:)``.
    package func once<Reply: BusReply>(
        _ context: RequestContext, carriesToken: Bool = false,
        _ body: @Loop (Transaction) async throws -> Outcome<Reply>
    ) async throws -> Reply {
        try await once(context, carriesToken: carriesToken, reading: nil) { transaction, _ in
            try await body(transaction)
        }
    }

    /// Executes a request once: see ``Inbox/once(_:carriesToken:reading:_:)``.
    package func once<Reply: BusReply>(
        _ context: RequestContext, carriesToken: Bool = false, reading first: Query?,
        _ body: @Loop (Transaction, [Row]) async throws -> Outcome<Reply>
    ) async throws -> Reply {
        let (reply, isReplay) = try await once(
            context.inboxRequest, carriesToken: carriesToken, reading: first, body)
        context.isReplay = isReplay
        return reply
    }

    /// Executes an idempotent request once for each message.
    ///
    /// Use it for a request that sets values that other devices set too. If its answer is lost, the bus repeats the
    /// request. Without this, the repetition would undo a value that another device has set meanwhile.
    package func oncePerMessage<Reply: BusReply>(
        _ context: RequestContext, _ body: @Loop (Transaction) async throws -> Reply
    ) async throws -> Reply {
        do {
            return try await once(context.inboxMessage) { .reply(try await body($0)) }.reply
        } catch let error as BusError where error.code == ErrorCode.requestInProgress.name {
            // The first attempt is still under way. The caller has no key and knows of one request only.
            throw DatabaseError.busy
        }
    }
}
