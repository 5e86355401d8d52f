import BusProtocol
import BusRuntime
import EventLoop

/// The inbox does not store the reply, because the reply reveals the date of birth.
struct JoinWaitlistHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: JoinWaitlist, context: RequestContext) async throws -> WaitlistPlace {
        let planned = try await profile.planned(context)
        let person = planned.record.personID
        return try await profile.database.transaction { transaction in
            let record = try await profile.locked(person, in: transaction)
            guard let born = record.dateOfBirth else {
                throw BusError(.dateOfBirthMissing, "Please tell us your date of birth first.")
            }
            guard let eligibleOn = planned.plan.eligibleOn(born: born), eligibleOn > profile.today(of: record) else {
                throw BusError(.alreadyEligible, "You need not wait.")
            }
            WaitlistStore.note(person, isWaiting: request.notify, in: transaction)
            return WaitlistPlace(eligibleOn: eligibleOn)
        }
    }
}
