import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Rewrites the numbers and addresses whose hashes are not under exactly the key ring's look-up keys. It seals them with the current
/// key.
struct RehashPhonesHandler: RequestHandler {
    let database: Database
    let log: Log
    let secrets: Secrets

    func handle(_ request: RehashPhones, context: RequestContext) async throws -> PhonesRehashed {
        let keys = secrets.lookupKeys
        let people = try await PhoneLookupStore.people(after: request.after, limit: request.limit, in: database)
        var written: Int64 = 0
        for table in PhoneLookupStore.Table.allCases {
            let stale = try await PhoneLookupStore.stale(in: table, of: people, keys, database)
            // A contact that cannot be opened does not stop the others. It is counted in `left`.
            let fresh = stale.compactMap { row in try? anew(row, secrets.keys(of: table.kind)) }
            if fresh.count < stale.count {
                log.warning("phones_not_opened", ["phones": .integer(Int64(stale.count - fresh.count))])
            }
            written += try await PhoneLookupStore.write(fresh, to: table, in: database)
        }
        let count = Int64(people.count)
        if count == request.limit { return PhonesRehashed(people: count, phones: written, next: people.last) }
        let left = try await PhoneLookupStore.left(keys, in: database)
        return PhonesRehashed(people: count, phones: written, left: left)
    }

    private func anew(_ row: PhoneLookupStore.Stale, _ keys: ContactKeys) throws -> PhoneLookupStore.Fresh {
        let contact = try keys.open(row.sealed, for: row.person)
        return PhoneLookupStore.Fresh(
            stale: row, hashes: keys.hashes(of: contact), sealed: keys.seal(contact, for: row.person))
    }
}
