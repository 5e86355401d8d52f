import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

struct CorrectDateOfBirthHandler: RequestHandler {
    let profile: ProfileContext
    let bearers: BearerReader
    let notes: Sealer

    func handle(_ request: CorrectDateOfBirth, context: RequestContext) async throws -> DateOfBirthCorrected {
        let person = request.personId
        let actor = try await staff(context, about: person)
        // Checks the request before anything is written. It is checked again under the lock.
        _ = try change(request, to: try await profile.present(person))
        // Uses its own transaction, so that a decision never holds the locks of two people.
        let name = try await profile.database.transaction {
            try await profile.audit.chain(ofReviewer: actor.userID, in: $0).name
        }
        return try await profile.inbox.once(context) { transaction in
            let (record, change) = try change(
                request, to: try await profile.store.known(person, in: transaction))
            let plans = try await profile.plans(of: record)
            if !change.isEmpty {
                try await correct(record, by: change, note: request.note, name, plans, in: transaction)
            }
            let position = Onboarding.Position(
                of: record.changed(by: change), plans[0], today: profile.today(of: record))
            return .reply(
                DateOfBirthCorrected(personId: person, onboardingStatus: position.onboardingStatus))
        }
    }

    /// The member of staff who sends the request. The gateway alone is not trusted: auth checks the access token.
    ///
    /// - Throws: ``BusError`` `unauthorized`; `forbidden` for a person without a staff role and for a decision about
    ///   oneself.
    @Loop private func staff(_ context: RequestContext, about person: Identifier) async throws -> Actor {
        _ = try await bearers.bearer(of: context)
        let actor = try context.person()
        guard actor.isStaff else { throw BusError(.forbidden, "This takes a member of the staff.") }
        guard actor.userID != person else {
            throw BusError(.forbidden, "Somebody else must decide about your profile.")
        }
        return actor
    }

    /// - Throws: ``BusError`` `not_found` or `validation_failed`.
    @Loop private func change(
        _ request: CorrectDateOfBirth, to record: ProfileRecord?
    ) throws(BusError) -> (ProfileRecord, ProfileChange) {
        guard let record else { throw BusError(.notFound, "There is no such person.") }
        let change = ProfileChange(
            correcting: request.dateOfBirth, of: record, profile.libraries.known.catalogue,
            today: profile.today(of: record))
        guard change.problems.isEmpty else {
            throw BusError(.validationFailed, "Some fields need another look.", errors: change.problems)
        }
        return (record, change)
    }

    @Loop private func correct(
        _ record: ProfileRecord, by change: ProfileChange, note: String, _ staff: String, _ plans: [Plan],
        in transaction: Transaction
    ) async throws {
        let person = record.personID
        let chain = try await profile.audit.ensure(person, in: transaction)
        let act = AuditAct("date_of_birth_corrected", ["by": staff])
        profile.audit.note(act, on: chain, in: transaction)
        profile.store.note(
            notes.seal(Array(note.utf8), associated: person.array), of: person, act: act.name, by: staff,
            in: transaction)
        let changed = record.changed(by: change)
        profile.noteProgress(from: record, to: changed, plans, in: transaction)
        _ = try await profile.store.apply(
            change, to: record, isComplete: plans[0].completion.isComplete(changed), in: transaction)
    }
}
