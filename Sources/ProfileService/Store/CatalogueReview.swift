import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Holds profiles that an older version of the catalogue judged against the one of this release.
struct CatalogueReview: Sendable {
    let store: ProfileStore
    let log: Log
    private static let batch: Int64 = 200

    /// Reviews what there is to review, a batch in each transaction; replicas share the work. A profile whose date of birth
    /// cannot be opened keeps nobody else's from being reviewed.
    @Loop func run() async throws {
        var (unopened, mayBeMore) = ([Identifier](), true)
        while mayBeMore {
            let batch = try await reviewSome(but: unopened)
            unopened += batch.unopened
            mayBeMore = batch.isFull
        }
        if !unopened.isEmpty {
            log.error(
                "date_of_birth_not_opened", ["in": "catalogue-review", "profiles": .integer(Int64(unopened.count))])
        }
    }

    @Loop private func reviewSome(but known: [Identifier]) async throws -> (unopened: [Identifier], isFull: Bool) {
        try await store.database.transaction { transaction in
            let rows = try await transaction.query(
                ProfileStore.outdated, [.integer(FieldCatalogue.version), .integer(Self.batch), .uuidArray(known)])
            var unopened: [Identifier] = []
            for row in rows {
                do {
                    let record = try store.record(row)
                    store.settle(ReviewRules.changes(in: record), of: record, in: transaction)
                } catch is SealError {
                    unopened.append(try row.uuid("person_id"))
                }
            }
            return (unopened, rows.count == Self.batch)
        }
    }
}
