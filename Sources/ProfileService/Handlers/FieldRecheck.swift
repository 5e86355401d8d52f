import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Holds profiles that an older version of the catalogue judged against the one of this release.
struct FieldRecheck: Sendable {
    let store: ProfileStore
    let log: Log
    private static let batch: Int64 = 200

    /// Reviews what there is to review, a batch in each transaction; replicas share the work. A profile whose date of birth
    /// cannot be opened keeps nobody else's from being reviewed.
    @Loop func run() async throws {
        var (last, unopened): (Identifier?, Int64) = (nil, 0)
        repeat {
            let batch = try await reviewSome(after: last)
            (last, unopened) = (batch.last, unopened + batch.unopened)
        } while last != nil
        if unopened > 0 {
            log.error("date_of_birth_not_opened", ["in": "catalogue-review", "profiles": .integer(unopened)])
        }
    }

    /// - Returns: whom the batch ended with, where there may be more, and how many of it cannot be opened.
    @Loop private func reviewSome(after last: Identifier?) async throws -> (last: Identifier?, unopened: Int64) {
        try await store.database.transaction { transaction in
            let found = try await store.outdated(after: last, limit: Self.batch, in: transaction)
            for record in found.records {
                store.recheck(FieldRecheckRules.changes(in: record), of: record, in: transaction)
            }
            return (found.last, found.unopened)
        }
    }
}
