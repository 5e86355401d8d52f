import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Erases everything that a service holds about a deleted person. A message that arrives later cannot create new rows.
package struct AccountDeletedHandler: RequestHandler {
    private let container: ServiceContainer
    private let erase: @Loop @Sendable (Identifier, Transaction) async throws -> Void

    /// - Parameter erase: removes the person's rows from the tables that the service's export sections describe. If
    ///   some transactions write such rows without ``Erasure/wait(for:in:)``, it waits for them. The handler erases all
    ///   other tables with a person's ID after that.
    package init(
        container: ServiceContainer,
        erase: @escaping @Loop @Sendable (Identifier, Transaction) async throws -> Void
    ) {
        (self.container, self.erase) = (container, erase)
    }

    package func handle(_ event: AccountDeleted, context: RequestContext) async throws -> Acknowledged {
        try await container.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            // The last row of the person's chain. If the person has no chain, the row goes to the service's chain.
            let chain = try await container.audit.chain(of: event.personID, in: transaction)
            try await erase(event.personID, transaction)
            try await PersonTable.erase(event.personID, besides: container.sections, in: transaction)
            // Write the audit row after the service's rows, as in every transaction.
            container.audit.note(AuditAct("person_erased"), on: chain, in: transaction)
            Erasure.withdraw(event.personID, in: transaction)
            Erasure.erase(event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
