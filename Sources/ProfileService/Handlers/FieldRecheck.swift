import BusProtocol
import Database
import EventLoop

/// Checks the profiles that an older version of the library judged against the version in use.
struct FieldRecheck: Sendable {
    let profile: ProfileContext
    private static let batch: Int64 = 200

    /// Checks all outdated profiles, one batch in each transaction. Replicas share the work. A profile whose date of
    /// birth cannot be opened does not stop the others.
    @Loop func run() async throws {
        var (last, unopened): (Identifier?, Int64) = (nil, 0)
        repeat {
            let batch = try await recheckSome(after: last)
            (last, unopened) = (batch.last, unopened + batch.unopened)
        } while last != nil
        if unopened > 0 {
            profile.log.error("date_of_birth_not_opened", ["in": "field-recheck", "profiles": .integer(unopened)])
        }
    }

    /// - Returns: the last person of the batch if there may be more, and the number of profiles that cannot be opened.
    @Loop private func recheckSome(after last: Identifier?) async throws -> (last: Identifier?, unopened: Int64) {
        let (store, plan) = (profile.store, try await profile.plans.current(for: nil))
        return try await profile.database.transaction { transaction in
            let library = profile.libraries.known
            let version = library.library.version
            let found = try await store.outdated(before: version, after: last, limit: Self.batch, in: transaction)
            for record in found.records {
                let changes = FieldRecheckRules.changes(in: record, library.catalogue)
                var changed = record
                for (key, state) in changes { changed.fields[key] = state }
                profile.noteProgress(from: record, to: changed, try await profile.plans(of: record), in: transaction)
                store.recheck(
                    changes, of: record.personID, isComplete: plan.completion.isComplete(changed), by: version,
                    in: transaction)
            }
            return (found.last, found.unopened)
        }
    }
}
