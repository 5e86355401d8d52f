import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Who wants to be told on the 18th birthday. No date stands beside the person: each day the sealed dates of birth of
/// those who wait are opened instead.
struct WaitlistStore: Sendable {
    let profiles: ProfileStore
    let outbox: Outbox
    let log: Log
    private static let page: Int64 = 500

    @Loop func note(_ person: Identifier, isWaiting: Bool, in transaction: Transaction) {
        transaction.send(isWaiting ? Self.join : Self.leave, [.uuid(person)])
    }

    /// Tells who is old enough where they are and takes them off the list. Of all calls of a day (UTC), by any replica, one does
    /// it: the first hour of that day is the same date from UTC to fourteen hours ahead of it, and from twelve hours behind
    /// it up to UTC the date before, whose birthdays that was the time to tell.
    @Loop func tellWhoIsEligible(at now: Timestamp) async throws {
        try await profiles.database.transaction { transaction in
            guard try await !transaction.query(Self.begin, [.date(now.date)]).isEmpty else { return }
            var (last, unopened): (Identifier?, Int64) = (nil, 0)
            repeat {
                let rows = try await transaction.query(Self.waiting, [.uuid(last), .integer(Self.page)])
                last = rows.count == Self.page ? try rows.last?.uuid("person_id") : nil
                for row in rows {
                    let person = try row.uuid("person_id")
                    let zone = try row.optionalText("time_zone").flatMap { PersonTimeZone($0) }
                    let born: CivilDate?
                    do {
                        born = try profiles.dateOfBirth(in: row)
                    } catch is SealError {
                        // Keeps nobody else from being told.
                        unopened += 1
                        continue
                    }
                    guard let born, Age.eligibleOn(born: born) <= zone?.date(at: now) ?? now.date else { continue }
                    let message = NotifyPerson(
                        notificationID: .ordered(), personID: person, kind: "now_eligible", data: [:])
                    try await outbox.publish(message, in: transaction)
                    note(person, isWaiting: false, in: transaction)
                }
            } while last != nil
            if unopened > 0 {
                log.error("date_of_birth_not_opened", ["in": "waitlist", "profiles": .integer(unopened)])
            }
        }
    }

    private static let join: Statement = "INSERT INTO waitlist (person_id) VALUES ($1) ON CONFLICT DO NOTHING"
    private static let leave: Statement = "DELETE FROM waitlist WHERE person_id = $1"
    /// Who comes second waits here for the first, and finds the day taken. While nobody waits, nothing is noted.
    private static let begin: Statement = """
        WITH past AS (DELETE FROM waitlist_days WHERE day < $1 - 7)
        INSERT INTO waitlist_days (day) SELECT $1 WHERE EXISTS (SELECT FROM waitlist) ON CONFLICT DO NOTHING RETURNING day
        """
    private static let waiting: Statement = """
        SELECT person_id, date_of_birth_sealed, time_zone FROM waitlist JOIN profiles USING (person_id)
        WHERE suspended_at IS NULL AND ($1::uuid IS NULL OR person_id > $1) ORDER BY person_id LIMIT $2
        """
}
