import JSONText

/// A request on the bus. There is one Swift type per message, with everything that readers, the gateway and the
/// contract suite must know about it.
///
/// ``Message()`` makes the schema. The gateway checks each body against it, and the service checks it again.
///
/// Within a version only optional members are added. A breaking change is a new type with the next version.
public protocol BusRequest: MessageValue {
    /// The type of the reply.
    associatedtype Reply: BusReply
    /// The wire name: `service.verb-object`.
    static var type: MessageType { get }
    /// The version of the message's shape, from 1.
    static var version: UInt16 { get }
    /// Who answers the message, who may send it, and which errors it can have.
    static var rules: MessageRules { get }
}

extension BusRequest {
    public static var version: UInt16 { 1 }
}

/// A request that the public API can make.
public protocol PublicRequest: BusRequest where Reply: PublicReply {
    /// The method and the path that reach it through the gateway.
    static var route: HTTPRoute { get }
    /// The members that do not come from the JSON body, by their names in JSON.
    static var sources: [String: HTTPRoute.Source] { get }
}

extension PublicRequest {
    public static var sources: [String: HTTPRoute.Source] { [:] }
}

/// The answer to a request.
public protocol BusReply: MessageValue {
    /// The revision of the resource that the reply shows, from 1; `nil` if the reply shows no resource with revisions.
    ///
    /// It is also in the frame's header. The gateway makes the entity tag from it without reading the body.
    var entityRevision: Int64? { get }
    /// The name of the revision, if it has its own: 1 to 64 visible ASCII characters. It takes precedence over the
    /// revision.
    var entityTag: EntityTag? { get }
    /// The language of all texts of the reply (RFC 5646), at most 64 characters; `nil` if it has no texts, or texts in
    /// several languages.
    var contentLanguage: String? { get }
    /// Whether the reply has the route's ``HTTPRoute/otherSuccess``.
    var hasOtherSuccess: Bool { get }
}

extension BusReply {
    public var entityRevision: Int64? { nil }
    public var entityTag: EntityTag? { nil }
    public var contentLanguage: String? { nil }
    public var hasOtherSuccess: Bool { false }
}

/// A reply that the gateway may pass to the client, byte for byte. Services do not send these to each other.
public protocol PublicReply: BusReply {}

/// A fact that a service publishes. It is delivered at least once, and in order per person. The only reply is an
/// acknowledgement.
public protocol BusEvent: BusRequest where Reply == Acknowledged {
    /// The person whom the event is about. Events of one producer about one person keep their order.
    var personID: Identifier { get }
    /// The number of this event among those of its producer about this person. It rises, mostly by one. The outbox sets
    /// it; it is 0 before that.
    var personSequence: Int64 { get set }
}

/// The receiver has committed the event to its database.
@Message
public struct Acknowledged: BusReply {
}

/// A public reply without a body: HTTP 204.
@Message
public struct NoContent: PublicReply {
}

/// What the bus must know about a message type besides its shape.
public struct MessageRules: Sendable {
    /// What a second execution would do. The bus repeats a request after a lost connection unless its effect is
    /// ``once``.
    public enum Effect: String, Sendable {
        /// It changes nothing.
        case read
        /// A second execution changes nothing more and gives the same reply.
        case idempotent
        /// A repetition is safe only with an idempotency key.
        case once
    }

    /// How long the outbox tries to deliver an event.
    public enum Delivery: String, Sendable {
        /// After a limited number of attempts the event becomes a dead letter, which an operator must handle.
        case someAttempts
        /// The outbox tries until the receiver acknowledges, at least every 20 s.
        ///
        /// No receiver may miss a deletion. An owner must hear of a recovery while its hold runs, however long auth was
        /// away.
        case untilTaken
    }

    /// The service that answers.
    @Field(example: "profile") public var service: ServiceName
    /// Further services that answer. Each of them receives an event.
    public var alsoTold: [ServiceName]
    /// Who may send the message. A request from anybody else is refused before its body is decoded.
    public var callers: Set<ServiceName>
    /// What a second execution would do.
    public var effect: Effect
    /// Every domain error that the message can answer with. The errors of the bus itself are not listed.
    public var errors: [ErrorCode]
    /// The largest body that is accepted, in bytes.
    public var largestBody: Int
    /// How deep and how large the JSON of a body may be.
    public var limits: JSONLimits
    /// The reply carries a token. A stored copy is kept for 60 s only and is never shown to an operator.
    public var replyCarriesToken: Bool
    /// The service answers when there is news. The response time says nothing about how fast the service is.
    public var isLongPoll: Bool
    /// How long the outbox tries to deliver an event.
    public var delivery: Delivery

    /// All services that answer.
    public var receivers: [ServiceName] { [service] + alsoTold }

    /// Takes the rules of one message. A body may have 64 KiB unless `largestBody` says otherwise.
    public init(
        service: ServiceName, alsoTold: [ServiceName] = [], callers: Set<ServiceName>, effect: Effect,
        errors: [ErrorCode] = [],
        largestBody: Int = 65_536, limits: JSONLimits = .standard, replyCarriesToken: Bool = false,
        isLongPoll: Bool = false, delivery: Delivery = .someAttempts
    ) {
        self.service = service
        self.alsoTold = alsoTold
        self.callers = callers
        self.effect = effect
        self.errors = errors
        self.largestBody = largestBody
        self.limits = limits
        self.replyCarriesToken = replyCarriesToken
        self.isLongPoll = isLongPoll
        self.delivery = delivery
    }
}
