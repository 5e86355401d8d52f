import BusProtocol
import BusRuntime
import Database
import EventLoop

struct UpdateMeHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: UpdateMe, context: RequestContext) async throws -> Me {
        let person = try context.person().userID
        return try await profile.house.database.transaction { transaction in
            let record = try await profile.store.locked(person, in: transaction)
            let change = try change(request, to: record)
            guard !change.isEmpty else { return profile.view(record) }
            if change.dateOfBirth != nil {
                // It decides who gets in and is locked from now on. Which day it is stands nowhere but sealed.
                let chain = try await profile.house.audit.ensure(person, in: transaction)
                profile.house.audit.note(AuditAct("date_of_birth_set"), on: chain, in: transaction)
            }
            profile.noteProgress(from: record, to: record.changed(by: change), in: transaction)
            return profile.view(
                try await profile.store.apply(change, to: record, commits: true, in: transaction))
        }
    }

    /// - Throws: ``BusError``: what is wrong with the request.
    private func change(_ request: UpdateMe, to record: ProfileRecord) throws(BusError) -> ProfileChange {
        if let tags = request.ifMatch, !Self.names(tags, record.revision) {
            throw BusError(
                .preconditionFailed, "Your profile was changed on another device. Please look at it again.")
        }
        let change = ProfileChange(request.fields, to: record, today: profile.today(of: record))
        try refuse(change, of: record)
        return change
    }

    /// - Parameter tags: of `If-Match`, `*` among them for any revision.
    private static func names(_ tags: String, _ revision: Int64) -> Bool {
        tags.split(separator: ",").map { $0.trimmingPrefix(" ") }.contains { $0 == "*" || $0 == "\"r\(revision)\"" }
    }

    private func refuse(_ change: ProfileChange, of record: ProfileRecord) throws(BusError) {
        guard change.problems.isEmpty else {
            throw BusError(.validationFailed, "Some fields need another look.", errors: change.problems)
        }
        if change.isDateOfBirthLocked {
            throw BusError(.dateOfBirthLocked, "The date of birth cannot be changed. Please contact support.")
        }
        guard profile.rejectsUnderage, let born = change.dateOfBirth,
            Age.eligibleOn(born: born) > profile.today(of: record.changed(by: change))
        else { return }
        throw BusError(
            .underage, profile.underageMessage,
            details: ["eligibleOn": .string(Age.eligibleOn(born: born).description)])
    }
}
