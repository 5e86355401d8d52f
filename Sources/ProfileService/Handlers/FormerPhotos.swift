import BusProtocol
import Database
import EventLoop

/// Drops the photos that are addresses of other hosts, which apps wrote before photos were uploaded. Nothing shows them any
/// more. Each person is told.
@Loop final class FormerPhotos {
    private let database: Database
    private let outbox: Outbox
    private var rounds = 0

    init(database: Database, outbox: Outbox) { (self.database, self.outbox) = (database, outbox) }

    /// To be called each hour. It drops them once, an hour after the start: whoever is told to upload a photo needs the routes
    /// of this release, and the gateway comes last.
    func round() async throws {
        if rounds == 1 { try await drop() }
        rounds += 1
    }

    /// Goes through all profiles, a page in each transaction. Replicas that do it at once drop each address once.
    func drop() async throws {
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
