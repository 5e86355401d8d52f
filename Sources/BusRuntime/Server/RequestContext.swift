import BusProtocol
import EventLoop

/// The facts that a handler has about a request besides its body.
@Loop package final class RequestContext {
    /// Identifies the message. It is the same in every attempt.
    package let messageID: Identifier
    /// The type of the request.
    package let type: MessageType
    /// The service that sent the request.
    package let caller: ServiceName
    /// The public key of the caller's connection; `nil` on a bus without keys.
    package let callerKey: BusKey?
    /// The person behind the request. Accepted from a gateway only.
    package let actor: Actor?
    /// The address of the public client. Accepted from a gateway only.
    package let clientAddress: String?
    /// The access token of the public request, if the message wants it. Accepted from a gateway only.
    package let accessToken: String?
    /// The tag of the language that the person reads, if the public request names one.
    package let language: String?
    /// The key under which the request has its effect once.
    package let idempotencyKey: String?
    /// The trace that the request belongs to.
    package let trace: TraceContext
    /// When the caller sent this attempt, in nanoseconds of ``MonotonicClock``. Times measured from it include waiting
    /// on the way and here.
    package let sentAt: UInt64
    /// The number of this attempt, from 1.
    package let attempt: Int
    /// In nanoseconds of ``MonotonicClock``.
    package let deadline: UInt64
    /// The body as received.
    package let body: [UInt8]
    /// Set if the answer is a stored reply.
    package var isReplay = false

    /// Takes the facts that the bus knows about a request.
    package init(
        messageID: Identifier = .ordered(), type: MessageType, caller: ServiceName, callerKey: BusKey? = nil,
        actor: Actor? = nil,
        clientAddress: String? = nil, accessToken: String? = nil, language: String? = nil,
        idempotencyKey: String? = nil, trace: TraceContext = .fresh(), sentAt: UInt64, attempt: Int,
        deadline: UInt64, body: [UInt8]
    ) {
        self.messageID = messageID
        self.type = type
        self.caller = caller
        self.callerKey = callerKey
        self.actor = actor
        self.clientAddress = clientAddress
        self.accessToken = accessToken
        self.language = language
        self.idempotencyKey = idempotencyKey
        self.trace = trace
        self.sentAt = sentAt
        self.attempt = attempt
        self.deadline = deadline
        self.body = body
    }

    /// The time since the caller sent this attempt.
    package var age: Duration { .nanoseconds(MonotonicClock.now() - sentAt) }

    /// The time until the deadline; zero if it has passed.
    package var remaining: Duration {
        let now = MonotonicClock.now()
        return .nanoseconds(deadline > now ? deadline - now : 0)
    }

    /// The person behind the request.
    ///
    /// - Throws: ``BusError`` `unauthorized` if the gateway named no person.
    package func person() throws(BusError) -> Actor {
        guard let actor else { throw BusError(.unauthorized, "Please sign in.") }
        return actor
    }

    /// Requires an administrator or an operator. The gateway checks the role too, but a service does not rely on it.
    ///
    /// - Throws: ``BusError`` `unauthorized` or `forbidden`.
    package func requireAdmin() throws(BusError) {
        // An operator has no account. The bus accepts an operator by key, and requires an explicit permission for
        // changes.
        if caller == .operator { return }
        guard try person().isAdmin else { throw BusError(.forbidden, "This is for administrators.") }
    }
}

/// Answers one type of request. It is a value and receives what it needs in its initialiser.
package protocol RequestHandler<Request>: Sendable {
    /// The request that it answers.
    associatedtype Request: BusRequest
    /// Answers a request.
    ///
    /// - Throws: ``BusError`` or a ``BusErrorConvertible``, which the caller receives. Any other error reaches the
    ///   caller as `internal_error`.
    @Loop func handle(_ request: Request, context: RequestContext) async throws -> Request.Reply
}

/// The options of a call.
package struct CallOptions: Sendable {
    /// How long the caller waits, with all attempts.
    package var timeout: Duration
    /// The trace that the call belongs to.
    package var trace: TraceContext
    /// The person behind the request. Accepted from a gateway only.
    package var actor: Actor?
    /// The address of the public client. Accepted from a gateway only.
    package var clientAddress: String?
    /// The key under which the request has its effect once.
    package var idempotencyKey: String?
    /// Identifies the message. It is the same in every attempt.
    package var messageID: Identifier
    /// The access token of the public request, for a message that wants it.
    package var accessToken: String?
    /// The tag of the language that the person reads, if the public request names one.
    package var language: String?
    /// With an operator's key: allows a call that changes something and is otherwise for programs only. The receiver
    /// logs it.
    package var isAsOperator = false

    /// Takes the options. Without a trace a new one begins.
    package init(
        timeout: Duration, trace: TraceContext = .fresh(), actor: Actor? = nil, clientAddress: String? = nil,
        idempotencyKey: String? = nil, messageID: Identifier = .ordered()
    ) {
        self.timeout = timeout
        self.trace = trace
        self.actor = actor
        self.clientAddress = clientAddress
        self.idempotencyKey = idempotencyKey
        self.messageID = messageID
    }
}

/// A reply as received. Its body is passed on byte for byte.
package struct RawReply: Sendable {
    /// The JSON of the reply.
    package var body: [UInt8]
    /// The reply is a stored one, sent again.
    package var isReplay: Bool
    /// The revision of the resource that it shows, if it shows one.
    package var entityRevision: Int64?
    /// The name of that revision, if it has its own.
    package var entityTag: EntityTag?
    /// The language of its texts, if they are all in one.
    package var contentLanguage: String?
    /// Over HTTP it has the second status of success of its route.
    package var hasOtherSuccess = false
}
