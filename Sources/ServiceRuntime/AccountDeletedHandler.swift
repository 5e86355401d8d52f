import BusProtocol
import BusRuntime
import Database
import EventLoop

/// A person is gone: everything that a service holds about them goes, and nothing that comes late begins them again.
public struct AccountDeletedHandler: RequestHandler {
    private let container: ServiceContainer
    private let erase: @Loop @Sendable (Identifier, Transaction) -> Void

    /// - Parameter erase: removes the service's own rows about a person; those of the runtime's tables go by themselves.
    public init(container: ServiceContainer, erase: @escaping @Loop @Sendable (Identifier, Transaction) -> Void) {
        (self.container, self.erase) = (container, erase)
    }

    public func handle(_ event: AccountDeleted, context: RequestContext) async throws -> Acknowledged {
        try await container.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            // The last row of the person's chain; of the service's where nothing of theirs was ever written down.
            let chain = try await container.audit.chain(of: event.personID, in: transaction)
            erase(event.personID, transaction)
            // Behind the service's rows, as everywhere.
            container.audit.note(AuditAct("person_erased"), on: chain, in: transaction)
            Erasure.withdraw(event.personID, in: transaction)
            Erasure.erase(event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
