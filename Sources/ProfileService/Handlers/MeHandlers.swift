import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// What the handlers of profile share.
struct ProfileContext: Sendable {
    let house: ServiceHouse
    let store: ProfileStore
    let policy: Onboarding.Policy
    /// An under-age date of birth is refused instead of stored.
    let rejectsUnderage: Bool
    let appName: String

    /// Today by UTC: a person's own calendar is at most a day away.
    var today: CivilDate { Timestamp.now().date }

    func view(_ record: ProfileRecord) -> Me {
        let today = today
        let standing = Onboarding.Standing(of: record, policy, today: today)
        var profile = [String: JSONValue](minimumCapacity: FieldCatalogue.fields.count)
        for field in FieldCatalogue.fields {
            switch field.key == "city" ? record.fields["city"] : record.state(of: field) {
            case .answered(let value): profile[field.key] = value
            case .declined: profile[field.key] = .string(FieldCatalogue.declined)
            case .skipped, nil: break
            }
        }
        return Me(
            id: record.personID, profile: profile,
            age: record.dateOfBirth.flatMap { Age.years(born: $0, on: today) }.map { Int64($0) },
            onboardingStatus: standing.onboardingStatus, onboardingStep: standing.step.rawValue,
            matchingMode: standing.matchingMode, skippedFields: record.keys { $0 == .skipped },
            preferNotToShareFields: record.keys { $0 == .declined }, completion: CompletionRules.percentage(of: record),
            ageGate: standing.eligibleOn.map { AgeGate(allowed: false, message: underageMessage, eligibleOn: $0) },
            createdAt: record.createdAt, updatedAt: record.updatedAt, revision: record.revision)
    }

    var underageMessage: String { "You must be 18 to use \(appName)" }
}

struct GetMeHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetMe, context: RequestContext) async throws -> Me {
        profile.view(try await profile.store.ensured(context.person().userID))
    }
}

struct UpdateMeHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: UpdateMe, context: RequestContext) async throws -> Me {
        let person = try context.person().userID
        return try await profile.house.database.transaction { transaction in
            let record = try await profile.store.locked(person, in: transaction)
            if let tag = request.ifMatch, tag != "*", tag != "\"r\(record.revision)\"" {
                throw BusError(
                    .preconditionFailed, "Your profile was changed on another device. Please look at it again.")
            }
            let change = ProfileChange(request.fields, to: record, today: profile.today)
            try refuse(change)
            guard !change.isEmpty else { return profile.view(record) }
            return profile.view(try await profile.store.apply(change, to: record, in: transaction))
        }
    }

    private func refuse(_ change: ProfileChange) throws(BusError) {
        guard change.problems.isEmpty else {
            throw BusError(.validationFailed, "Some fields need another look.", errors: change.problems)
        }
        if change.isDateOfBirthLocked {
            throw BusError(.dateOfBirthLocked, "The date of birth cannot be changed. Please contact support.")
        }
        guard profile.rejectsUnderage, let born = change.dateOfBirth, Age.eligibleOn(born: born) > profile.today else {
            return
        }
        throw BusError(
            .underage, profile.underageMessage,
            details: ["eligibleOn": .string(Age.eligibleOn(born: born).description)])
    }
}
