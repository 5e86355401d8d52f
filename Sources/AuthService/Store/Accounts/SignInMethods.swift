import BusProtocol
import Database
import EventLoop

/// Counts the ways into an account: its phone, its email address and its linked identities.
@Loop enum SignInMethods {
    /// Call it while the account is locked.
    static func count(of person: Identifier, in transaction: Transaction) async throws -> Int64 {
        try await transaction.query(count, [.uuid(person)]).first?.integer("ways") ?? 0
    }

    /// An identity that must be confirmed after a recovery counts: its owner can link it again.
    private static let count: Statement = """
        SELECT (SELECT count(*) FROM phones WHERE person_id = $1) + (SELECT count(*) FROM emails WHERE person_id = $1)
            + (SELECT count(*) FROM identities WHERE person_id = $1) AS ways
        """
}
