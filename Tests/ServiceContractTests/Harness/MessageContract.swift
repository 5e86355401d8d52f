import BusProtocol
import EventLoop
import Foundation
import JSONText
import Testing

/// What one message type promises: samples that the checks of the bodies are run over, and states of its provider that
/// the checks of the running service are run in.
///
/// Nothing here has a default: a contract that leaves something out does not compile, and a message type without a
/// contract fails ``CatalogueTests``.
protocol MessageContract: BusRequest {
    /// Who answers; of an event, who is told.
    associatedtype Answering: Provider

    /// An everyday request.
    static var canonical: Self { get }
    /// Required members only, the smallest values that are allowed.
    static var minimal: Self { get }
    /// Every member, long and full of Unicode where text is free.
    static var maximal: Self { get }

    static var canonicalReply: Reply { get }
    static var minimalReply: Reply { get }
    static var maximalReply: Reply { get }

    /// One sample for each code in `rules.errors`, in that order, as the service words it.
    static var errors: [BusError] { get }

    /// Whether the everyday request leaves something behind in the tables.
    static var hasEffect: Bool { get }
    /// Members of the reply that go with the clock.
    static var clockMembers: Set<String> { get }
    /// Brings the provider into the everyday state and says what is asked then; a new person each time.
    @Loop static func everyday(_ provider: Answering) async throws -> Asked<Self>
    /// Brings the provider to where it answers with each of the declared errors, by code.
    static var provocations: [String: Provocation<Answering, Self>] { get }
}

typealias Provocation<Answering: Provider, Message: BusRequest> =
    @Loop @Sendable (Answering) async throws -> Asked<Message>

extension MessageContract {
    /// The name of a fixture folder: `auth.send-otp/v1`.
    static var folder: String { "\(type)/v\(version)" }
    /// The exported schema, as it is read back.
    static var document: JSONValue {
        get throws { try JSONValue.parse(CanonicalJSON.bytes(of: MessageDocument(self).value)) }
    }
}

/// A contract as a test argument, printed by its message type.
struct AnyContract: Sendable, CustomTestStringConvertible {
    let contract: any MessageContract.Type
    var testDescription: String { contract.folder }
    init(_ contract: any MessageContract.Type) { self.contract = contract }

    /// Every message of the catalogue that has a contract; ``CatalogueTests`` finds those that have none.
    static let all = Catalogue.all.compactMap { $0 as? any MessageContract.Type }.map { AnyContract($0) }

    /// The types that `make contract` names; none where all contracts are examined.
    static let named = (ProcessInfo.processInfo.environment["VESTIBULE_CONTRACTS"] ?? "").split(separator: " ").map(
        String.init)

    /// The contracts that are examined: all, or those of the messages that were named.
    static let examined = named.isEmpty ? all : all.filter { named.contains($0.contract.type.rawValue) }
}
