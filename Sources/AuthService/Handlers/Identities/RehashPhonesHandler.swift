import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Writes people's numbers anew under the look-up keys of the ring, and seals them with the key that seals now.
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
            // What cannot be opened keeps nobody else waiting; it is counted among what is left.
            let fresh = stale.compactMap { row in try? anew(row) }
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

    private func anew(_ row: PhoneLookupStore.Stale) throws -> PhoneLookupStore.Fresh {
        let number = try secrets.phoneSealer.open(row.sealed, associated: row.person.array)
        return PhoneLookupStore.Fresh(
            stale: row, hashes: secrets.hashes(of: number),
            sealed: secrets.phoneSealer.seal(number, associated: row.person.array))
    }
}
