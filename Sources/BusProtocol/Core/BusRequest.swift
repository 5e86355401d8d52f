import JSONText

/// A request on the bus: one Swift type per message, with everything that its readers, the gateway and the contract
/// suite must know of it. ``Message()`` makes the schema, which is held against the body in the gateway and again in the service.
///
/// Within a version only optional members are added. A breaking change is a new type with the next version beside it.
public protocol BusRequest: MessageValue {
    associatedtype Reply: BusReply
    static var type: MessageType { get }
    /// From 1.
    static var version: UInt16 { get }
    static var rules: MessageRules { get }
}

extension BusRequest {
    public static var version: UInt16 { 1 }
}

/// A request that the public API can make.
public protocol PublicRequest: BusRequest where Reply: PublicReply {
    static var route: HTTPRoute { get }
    /// Members that do not come from the JSON body, by their names in JSON.
    static var sources: [String: HTTPRoute.Source] { get }
}

extension PublicRequest {
    public static var sources: [String: HTTPRoute.Source] { [:] }
}

/// The answer to a request.
public protocol BusReply: MessageValue {
    /// Which state of its resource the reply shows, from 1; `nil` where it is not the view of one. It stands in the frame's
    /// header, so that the gateway can name the entity tag of a body that it does not read.
    var entityRevision: Int64? { get }
    /// The name of the state that it shows, where that has one of its own. It goes before the revision.
    var entityTag: EntityTag? { get }
    /// Whether the request made what the reply shows: HTTP 201.
    var isCreated: Bool { get }
}

extension BusReply {
    public var entityRevision: Int64? { nil }
    public var entityTag: EntityTag? { nil }
    public var isCreated: Bool { false }
}

/// A reply that the gateway may pass on to the public, byte for byte. Services do not use these among themselves.
public protocol PublicReply: BusReply {}

/// A fact told to subscribers, at least once and in order per person; an acknowledgement is the only answer.
public protocol BusEvent: BusRequest where Reply == Acknowledged {
    /// Whose event it is; its order is kept among the events of the same producer and person.
    var personID: Identifier { get }
    /// Counts the events of this producer about this person, from 1. Set by the outbox; 0 before that.
    var personSequence: Int64 { get set }
}

/// "It is in my database now."
@Message
public struct Acknowledged: BusReply {
}

/// A public answer without a body: HTTP 204.
@Message
public struct NoContent: PublicReply {
}

/// What the bus must know of a message type beside its shape.
public struct MessageRules: Sendable {
    /// What a second execution would do: it decides whether a lost connection is retried.
    public enum Effect: String, Sendable {
        /// Changes nothing.
        case read
        /// Doing it twice is doing it once.
        case idempotent
        /// Needs an idempotency key to be repeated safely.
        case once
    }

    /// How long the outbox tries to deliver an event.
    public enum Delivery: String, Sendable {
        /// Some attempts, then it is a dead letter and waits for an operator.
        case someAttempts
        /// Until it is taken, at least each 20 s: nobody may forget a deletion, and an owner hears of a recovery however long
        /// auth was away, while its hold runs on.
        case untilTaken
    }

    /// Who answers.
    public var service: ServiceName
    /// Services that an event is told beside the one that answers.
    public var alsoTold: [ServiceName]
    /// Who may ask; anybody else is refused before the body is decoded.
    public var callers: Set<ServiceName>
    public var effect: Effect
    /// Every domain error that it can answer, beside those of the bus itself.
    public var errors: [ErrorCode]
    /// Bytes.
    public var largestBody: Int
    /// What of JSON a body may hold.
    public var limits: JSONLimits
    /// The reply carries a token: a stored copy is kept for 60 s only, and no operator is given it.
    public var replyCarriesToken: Bool
    /// It is answered when there is news: how long that takes says nothing of how fast the service is.
    public var isLongPoll: Bool
    public var delivery: Delivery

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
