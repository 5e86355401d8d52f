import BusProtocol
import BusRuntime
import EventLoop

/// The inbox does not store the reply, because the reply reveals the date of birth.
struct JoinWaitlistHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: JoinWaitlist, context: RequestContext) async throws -> WaitlistPlace {
        let person = try context.person().userID
        return try await profile.database.transaction { transaction in
            let record = try await profile.store.locked(person, in: transaction)
            guard let born = record.dateOfBirth else {
                throw BusError(.dateOfBirthMissing, "Please tell us your date of birth first.")
            }
            let eligibleOn = Age.eligibleOn(born: born)
            guard eligibleOn > profile.today(of: record) else { throw BusError(.alreadyEligible, "You need not wait.") }
            WaitlistStore.note(person, isWaiting: request.notify, in: transaction)
            return WaitlistPlace(eligibleOn: eligibleOn)
        }
    }
}
