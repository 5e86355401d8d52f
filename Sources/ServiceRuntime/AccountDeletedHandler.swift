import BusProtocol
import BusRuntime
import Database
import EventLoop

/// A person is gone: everything that a service holds about them goes, and nothing that comes late begins them again.
public struct AccountDeletedHandler: RequestHandler {
    private let container: ServiceContainer
    private let erase: @Loop @Sendable (Identifier, Transaction) -> Void

    /// - Parameter erase: removes the rows about a person from the tables that the service's export sections describe, and
    ///   waits for who writes about the person; all other tables with a person's id are erased behind it.
    public init(container: ServiceContainer, erase: @escaping @Loop @Sendable (Identifier, Transaction) -> Void) {
        (self.container, self.erase) = (container, erase)
    }

    public func handle(_ event: AccountDeleted, context: RequestContext) async throws -> Acknowledged {
        try await container.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            // The last row of the person's chain; of the service's where nothing of theirs was ever written down.
            let chain = try await container.audit.chain(of: event.personID, in: transaction)
            erase(event.personID, transaction)
            try await PersonTable.erase(event.personID, besides: container.sections, in: transaction)
            // Behind the service's rows, as everywhere.
            container.audit.note(AuditAct("person_erased"), on: chain, in: transaction)
            Erasure.withdraw(event.personID, in: transaction)
            Erasure.erase(event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
