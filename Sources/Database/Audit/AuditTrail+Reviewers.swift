import EventLoop
import Values

extension AuditTrail {
    /// The chain of a reviewer, by a pseudonym, so that nothing about them outlives their account.
    ///
    /// - Throws: ``BusError`` `unauthorized` if the person's account is deleted.
    package func chain(ofReviewer person: Identifier, in transaction: Transaction) async throws -> AuditChain {
        Erasure.wait(for: person, in: transaction)
        guard try await !Erasure.isErased(person, in: transaction) else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return try await ensure(person, in: transaction)
    }

    /// Notes that a reviewer looked at something. It does not note the same look again within a minute, such as a
    /// repeated request.
    ///
    /// - Throws: ``BusError`` `unauthorized` if the reviewer's account is deleted.
    package func noteLook(_ act: AuditAct, by reviewer: Identifier, in database: Database) async throws {
        try await database.transaction { transaction in
            let chain = try await chain(ofReviewer: reviewer, in: transaction)
            guard try await !isLast(act, on: chain, in: transaction) else { return }
            note(act, on: chain, in: transaction)
        }
    }
}
