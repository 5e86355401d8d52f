import BusProtocol
import Database
import EventLoop
import ServiceRuntime

/// Notifies those on the waitlist who turned 18.
struct WaitlistNotifier: Sendable {
    let profiles: ProfileStore
    let outbox: Outbox
    let log: Log

    /// Tells who is old enough where they are and takes them off the list. Of all calls of a day (UTC), by any replica, one does
    /// it: the first hour of that day is the same date from UTC to fourteen hours ahead of it, and from twelve hours behind
    /// it up to UTC the date before, whose birthdays that was the time to tell.
    @Loop func tellWhoIsEligible(at now: Timestamp) async throws {
        try await profiles.database.transaction { transaction in
            guard try await WaitlistStore.begin(now.date, in: transaction) else { return }
            var (last, unopened): (Identifier?, Int64) = (nil, 0)
            repeat {
                let waiting = try await WaitlistStore.waiting(after: last, opening: profiles, in: transaction)
                last = waiting.count == WaitlistStore.page ? waiting.last?.person : nil
                for one in waiting {
                    guard case .success(let born) = one.dateOfBirth else {
                        // Keeps nobody else from being told.
                        unopened += 1
                        continue
                    }
                    let today = one.timeZone?.date(at: now) ?? now.date
                    guard let born, Age.eligibleOn(born: born) <= today else { continue }
                    let message = NotifyPerson(
                        notificationID: .ordered(), personID: one.person, kind: NoticeKind.nowEligible.rawValue,
                        data: [:])
                    try await outbox.publish(message, in: transaction)
                    WaitlistStore.note(one.person, isWaiting: false, in: transaction)
                }
            } while last != nil
            if unopened > 0 {
                log.error("date_of_birth_not_opened", ["in": "waitlist", "profiles": .integer(unopened)])
            }
        }
    }
}
