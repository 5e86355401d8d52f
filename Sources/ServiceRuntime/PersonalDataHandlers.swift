import BusProtocol
import BusRuntime
import Database
import EventLoop

extension ServiceContainer {
    /// Exports everything that the service holds about a person, and erases it when the account is deleted.
    ///
    /// - Parameters:
    ///   - request: asks the service for the export. Auth has checked that the person may have it.
    ///   - sections: describe the tables that are not exported as they are. The runtime exports and erases every other
    ///     table with a column `person_id` by itself.
    ///   - erase: removes the person's rows from the tables that the sections describe. If some transactions write such
    ///     rows without ``Erasure/wait(for:in:)``, it waits for them. The runtime erases all other tables after that.
    package func handlePersonalData<Request: ExportRequest>(
        _ request: Request.Type, sections: [ExportSection] = [],
        erase: @escaping @Loop @Sendable (Identifier, Transaction) async throws -> Void = { _, _ in }
    ) {
        handle(ExportHandler<Request>(export: export(sections)))
        handle(AccountDeletedHandler(database: database, audit: audit, sections: sections, erase: erase))
    }
}

struct ExportHandler<Request: ExportRequest>: RequestHandler {
    let export: PersonExport

    func handle(_ request: Request, context: RequestContext) async throws -> ExportPage {
        try await export.page(of: context.person().userID, after: request.after) { _ in }
    }
}

/// Erases everything that a service holds about a deleted person. A message that arrives later cannot create new rows.
struct AccountDeletedHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let sections: [ExportSection]
    let erase: @Loop @Sendable (Identifier, Transaction) async throws -> Void

    func handle(_ event: AccountDeleted, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            // The last row of the person's chain. If the person has no chain, the row goes to the service's chain.
            let chain = try await audit.chain(of: event.personID, in: transaction)
            try await erase(event.personID, transaction)
            try await PersonTable.erase(event.personID, besides: sections, in: transaction)
            // Write the audit row after the service's rows, as in every transaction.
            audit.note(AuditAct("person_erased"), on: chain, in: transaction)
            Erasure.withdraw(event.personID, in: transaction)
            Erasure.erase(event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
