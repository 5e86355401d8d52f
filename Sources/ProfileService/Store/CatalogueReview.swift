import BusProtocol
import Database
import EventLoop

/// Holds profiles that an older version of the catalogue judged against the one of this release.
struct CatalogueReview: Sendable {
    let store: ProfileStore
    private static let batch: Int64 = 200

    /// Reviews what there is to review, a batch in each transaction; replicas share the work.
    @Loop func run() async throws {
        while try await reviewSome() {}
    }

    /// - Returns: whether there may be more.
    @Loop private func reviewSome() async throws -> Bool {
        try await store.database.transaction { transaction in
            let rows = try await transaction.query(
                ProfileStore.outdated, [.integer(FieldCatalogue.version), .integer(Self.batch)])
            for row in rows {
                let record = try store.record(row)
                store.settle(ReviewRules.changes(in: record), of: record, in: transaction)
            }
            return rows.count == Self.batch
        }
    }
}
