import BusProtocol
import Database
import EventLoop

/// Drops photos that are addresses on other hosts. Apps wrote them before people could upload photos, and nothing shows
/// them any more. Each person gets a notice.
@Loop final class FormerPhotos {
    private let database: Database
    private let outbox: Outbox
    private var rounds = 0

    init(database: Database, outbox: Outbox) { (self.database, self.outbox) = (database, outbox) }

    /// Call it each hour. It drops the photos once, an hour after the start. A person who reads the notice needs this
    /// release's routes to upload a photo, and an upgrade replaces the gateway last.
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
