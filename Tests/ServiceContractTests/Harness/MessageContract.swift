import BusProtocol
import EventLoop
import JSONText
import Testing

/// What one message type promises: samples that the checks of the bodies are run over, and states of its provider that
/// the checks of the running service are run in.
///
/// Nothing here has a default: a contract that leaves something out does not compile, and a message type without a
/// contract fails ``CatalogueTests``.
protocol MessageContract: Sendable {
    associatedtype Message: BusRequest
    /// Who answers; of an event, who is told.
    associatedtype Answering: Provider

    /// An everyday request.
    static var canonical: Message { get }
    /// Required members only, the smallest values that are allowed.
    static var minimal: Message { get }
    /// Every member, long and full of Unicode where text is free.
    static var maximal: Message { get }

    static var canonicalReply: Message.Reply { get }
    static var minimalReply: Message.Reply { get }
    static var maximalReply: Message.Reply { get }

    /// One sample for each code in `rules.errors`, in that order, as the service words it.
    static var errors: [BusError] { get }

    /// Method, path and status of the public route; `nil` for a message of the house.
    static var route: String? { get }
    /// Whether the everyday request leaves something behind in the tables.
    static var hasEffect: Bool { get }
    /// Members of the reply that go with the clock.
    static var clockMembers: Set<String> { get }
    /// Brings the provider into the everyday state and says what is asked then; a new person each time.
    @Loop static func everyday(_ provider: Answering) async throws -> Asked<Message>
    /// Brings the provider to where it answers with each of the declared errors, by code.
    static var provocations: [String: Provocation<Answering, Message>] { get }
}

typealias Provocation<Answering: Provider, Message: BusRequest> =
    @Loop @Sendable (Answering) async throws -> Asked<Message>

extension MessageContract {
    /// The name of a fixture folder: `auth.send-otp/v1`.
    static var folder: String { "\(Message.type)/v\(Message.version)" }
    static var type: MessageType { Message.type }
    /// The exported schema, as it is read back.
    static var document: JSONValue {
        get throws { try JSONValue.parse(CanonicalJSON.bytes(of: MessageDocument(Message.self).value)) }
    }
}

/// A contract as a test argument, printed by its message type.
struct AnyContract: Sendable, CustomTestStringConvertible {
    let contract: any MessageContract.Type
    var testDescription: String { contract.folder }
    init(_ contract: any MessageContract.Type) { self.contract = contract }

    /// Every contract of the suite; each service adds its own in `<Service>/<Service>Contracts.swift`.
    static let all: [AnyContract] =
        (AuthContracts.all + ProfileContracts.all + QuestionnaireContracts.all + RecoveryContracts.all)
        .map { AnyContract($0) }
}
