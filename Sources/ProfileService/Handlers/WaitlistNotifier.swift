import BusProtocol
import Database
import EventLoop
import ServiceRuntime

/// Notifies the people on the waitlist who reached the minimum age.
struct WaitlistNotifier: Sendable {
    let profiles: ProfileStore
    let plans: PublishedPlans
    let outbox: Outbox
    let log: Log

    /// Notifies the people who are old enough in their time zone, and removes them from the list. Runs once per UTC day, by one
    /// replica.
    ///
    /// In the first hour of a UTC day, time zones from UTC eastward have the same date. Time zones to the west still
    /// have the date before. So that hour falls on the local birthday of everyone who has one on either date.
    @Loop func tellWhoIsEligible(at now: Timestamp) async throws {
        // The waitlist is that of the default app.
        let plan = try await plans.current(for: nil)
        try await profiles.database.transaction { transaction in
            guard try await WaitlistStore.begin(now.date, in: transaction) else { return }
            var (last, unopened): (Identifier?, Int64) = (nil, 0)
            repeat {
                let waiting = try await WaitlistStore.waiting(after: last, opening: profiles, in: transaction)
                last = waiting.count == WaitlistStore.page ? waiting.last?.person : nil
                for one in waiting {
                    guard case .success(let born) = one.dateOfBirth else {
                        // One unreadable date does not stop the notifications of other people.
                        unopened += 1
                        continue
                    }
                    let today = one.timeZone?.date(at: now) ?? now.date
                    guard let born, plan.eligibleOn(born: born) ?? born <= today else { continue }
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
