import BusProtocol
import Database
import EventLoop

/// Drops the photos that are addresses of other hosts, which apps wrote before photos were uploaded. Nothing shows them any
/// more. Each person is told.
struct FormerPhotos: Sendable {
    let database: Database
    let outbox: Outbox

    /// Goes through all profiles, a page in each transaction. Replicas that do it at once drop each address once.
    @Loop func drop() async throws {
        var last: Identifier?
        repeat {
            last = try await database.transaction { [last] transaction in
                let page = try await PhotoStore.dropAddresses(after: last, in: transaction)
                for person in page.dropped {
                    let notice = NotifyPerson(
                        notificationID: .ordered(), personID: person, kind: NoticeKind.photoDropped.rawValue,
                        data: [:])
                    try await outbox.publish(notice, in: transaction)
                }
                return page.last
            }
        } while last != nil
    }
}
