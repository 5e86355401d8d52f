import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// The people who want to be notified once they are old enough. The list stores no dates. Its readers open the sealed
/// dates of birth in the profiles instead.
@Loop enum WaitlistStore {
    struct Waiting: Sendable {
        let person: Identifier
        let timeZone: PersonTimeZone?
        /// `nil` if none is set; a failure if it cannot be opened.
        let dateOfBirth: Result<CivilDate?, SealError>
    }

    /// The most people on a page.
    static let page = 500

    static func note(_ person: Identifier, isWaiting: Bool, in transaction: Transaction) {
        transaction.send(isWaiting ? join : leave, [.uuid(person)])
    }

    /// Marks the list as processed on a day.
    ///
    /// - Returns: `false` if it was marked already, or if nobody is on the list.
    static func begin(_ day: CivilDate, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(begin, [.date(day)]).isEmpty
    }

    /// A page of the people on the list, in the order of their ids. Suspended people are left out.
    static func waiting(
        after last: Identifier?, opening profiles: ProfileStore, in transaction: Transaction
    ) async throws -> [Waiting] {
        try await transaction.query(waiting, [.uuid(last ?? .least), .integer(Int64(page))]).map { row in
            let dateOfBirth: Result<CivilDate?, SealError>
            do {
                dateOfBirth = .success(try profiles.dateOfBirth(in: row))
            } catch let error as SealError {
                dateOfBirth = .failure(error)
            }
            return Waiting(
                person: try row.uuid("person_id"),
                timeZone: try row.optionalText("time_zone").flatMap { PersonTimeZone($0) }, dateOfBirth: dateOfBirth)
        }
    }

    private static let join: Statement = "INSERT INTO waitlist (person_id) VALUES ($1) ON CONFLICT DO NOTHING"
    private static let leave: Statement = "DELETE FROM waitlist WHERE person_id = $1"
    /// A second replica waits here for the first one, and then finds the day taken. If nobody is on the list, no day is
    /// stored.
    private static let begin: Statement = """
        WITH past AS (DELETE FROM waitlist_days WHERE day < $1 - 7)
        INSERT INTO waitlist_days (day) SELECT $1 WHERE EXISTS (SELECT FROM waitlist) ON CONFLICT DO NOTHING RETURNING day
        """
    private static let waiting: Statement = """
        SELECT person_id, date_of_birth_sealed, time_zone FROM waitlist JOIN profiles USING (person_id)
        WHERE suspended_at IS NULL AND person_id > $1 ORDER BY person_id LIMIT $2
        """
}
