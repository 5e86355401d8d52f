import BusProtocol
import EventLoop
import Foundation
import JSONText
import Testing

/// The promises of one message type: samples for the checks of bodies, and states of its provider for the checks of the
/// running service.
///
/// Nothing here has a default, so an incomplete contract does not compile. A message type without a contract fails
/// ``MessageCatalogueTests``.
protocol MessageContract: BusRequest {
    /// The provider that answers the request, or receives the event.
    associatedtype Answering: Provider

    /// An everyday request.
    static var canonical: Self { get }
    /// Only the required members, with the smallest allowed values.
    static var minimal: Self { get }
    /// Every member, with long values. Free text is full of Unicode.
    static var maximal: Self { get }

    static var canonicalReply: Reply { get }
    static var minimalReply: Reply { get }
    static var maximalReply: Reply { get }

    /// One sample for each code in `rules.errors`, in that order, with the service's own text.
    static var errors: [BusError] { get }

    /// Whether the everyday request changes the tables.
    static var hasEffect: Bool { get }
    /// The members of the reply that depend on the clock.
    static var clockMembers: Set<String> { get }
    /// Brings the provider into the everyday state and returns the request. Each call uses a new person.
    @Loop static func everyday(_ provider: Answering) async throws -> Asked<Self>
    /// For each declared error code, brings the provider into a state in which it replies with that error.
    static var provocations: [String: Provocation<Answering, Self>] { get }
}

typealias Provocation<Answering: Provider, Message: BusRequest> =
    @Loop @Sendable (Answering) async throws -> Asked<Message>

extension MessageContract {
    /// The name of the fixture folder, such as `auth.send-otp/v1`.
    static var folder: String { "\(type)/v\(version)" }
    /// The exported schema, parsed again.
    static var document: JSONValue {
        get throws { try JSONValue.parse(CanonicalJSON.bytes(of: MessageDocument(self).value)) }
    }
}

/// A contract as a test argument, printed as its message type.
struct AnyContract: Sendable, CustomTestStringConvertible {
    let contract: any MessageContract.Type
    var testDescription: String { contract.folder }
    init(_ contract: any MessageContract.Type) { self.contract = contract }

    /// Every message of the message catalogue with a contract. ``MessageCatalogueTests`` finds the others.
    static let all = MessageCatalogue.all.compactMap { $0 as? any MessageContract.Type }.map { AnyContract($0) }

    /// The types that `make contract` names; empty if all contracts are checked.
    static let named = (ProcessInfo.processInfo.environment["VESTIBULE_CONTRACTS"] ?? "").split(separator: " ").map(
        String.init)

    /// The contracts to check: all, or those of the named messages.
    static let examined = named.isEmpty ? all : all.filter { named.contains($0.contract.type.rawValue) }
}
