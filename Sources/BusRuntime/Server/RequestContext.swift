import BusProtocol
import EventLoop

/// What a handler knows of a request beside its body.
@Loop public final class RequestContext {
    public let messageID: Identifier
    public let type: MessageType
    public let caller: ServiceName
    /// The public key of the caller's connection, 44 characters of base64; `nil` on a bus without keys.
    public let callerKey: String?
    /// On whose behalf; only a gateway's word counts.
    public let actor: Actor?
    /// The address that the public request came from; only a gateway's word counts.
    public let clientAddress: String?
    /// The access token of the public request, where the act wants it; only a gateway's word counts.
    public let accessToken: String?
    public let idempotencyKey: String?
    public let trace: TraceContext
    /// Nanoseconds of ``MonotonicClock``.
    public let deadline: UInt64
    /// The body as it was received.
    public let body: [UInt8]
    /// Set by who answers with a stored reply.
    public var isReplay = false

    public init(
        messageID: Identifier = .ordered(), type: MessageType, caller: ServiceName, callerKey: String? = nil,
        actor: Actor? = nil,
        clientAddress: String? = nil, accessToken: String? = nil, idempotencyKey: String? = nil,
        trace: TraceContext = .fresh(), deadline: UInt64,
        body: [UInt8]
    ) {
        self.messageID = messageID
        self.type = type
        self.caller = caller
        self.callerKey = callerKey
        self.actor = actor
        self.clientAddress = clientAddress
        self.accessToken = accessToken
        self.idempotencyKey = idempotencyKey
        self.trace = trace
        self.deadline = deadline
        self.body = body
    }

    /// Until the deadline; zero when it has passed.
    public var remaining: Duration {
        let now = MonotonicClock.now()
        return .nanoseconds(deadline > now ? deadline - now : 0)
    }

    /// The person behind the request.
    ///
    /// - Throws: ``BusError`` `unauthorized` where a gateway named none.
    public func person() throws(BusError) -> Actor {
        guard let actor else { throw BusError(.unauthorized, "Please sign in.") }
        return actor
    }
}

/// Answers one type of request. A plain value: what it needs it was made with.
public protocol RequestHandler<Request>: Sendable {
    associatedtype Request: BusRequest
    @Loop func handle(_ request: Request, context: RequestContext) async throws -> Request.Reply
}

/// What goes along with a call.
public struct CallOptions: Sendable {
    public var timeout: Duration
    public var trace: TraceContext
    public var actor: Actor?
    public var clientAddress: String?
    public var idempotencyKey: String?
    public var messageID: Identifier
    /// The access token of the public request, for an act that wants it.
    public var accessToken: String?
    /// With an operator's key: to call also what changes something and is meant for programs only. It is logged there.
    public var isAsOperator = false

    public init(
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

/// A reply as it came: its body is passed on byte for byte.
public struct RawReply: Sendable {
    public var body: [UInt8]
    /// It is a stored reply, given again.
    public var isReplay: Bool
    /// The state of the resource that it shows, where it is the view of one.
    public var entityRevision: Int64?
    /// The name of that state, where it has one of its own.
    public var entityTag: EntityTag?
    /// The request made what it shows.
    public var isCreated = false
}
