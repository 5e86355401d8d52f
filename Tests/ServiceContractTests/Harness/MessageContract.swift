import BusProtocol
import Testing

/// What one message type promises, as samples that the generic checks are run over.
///
/// Nothing here has a default: a contract that leaves something out does not compile, and a message type without a
/// contract fails ``CatalogueTests``.
protocol MessageContract: Sendable {
    associatedtype Message: BusRequest

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
}

/// The name of a fixture folder: `auth.send-otp/v1`.
extension MessageContract {
    static var folder: String { "\(Message.type)/v\(Message.version)" }
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
