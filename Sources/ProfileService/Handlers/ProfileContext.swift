import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// What the handlers of profile share.
struct ProfileContext: Sendable {
    let database: Database
    let inbox: Inbox
    let audit: AuditTrail
    let bus: Bus
    let log: Log
    let store: ProfileStore
    let events: EventStore
    let policy: Onboarding.Policy
    /// An under-age date of birth is refused instead of stored.
    let rejectsUnderage: Bool
    let appName: String
    let completion: CompletionRules

    /// Key of the questionnaire that the onboarding asks for.
    let questionnaire: String

    /// Today by UTC, for what is no one person's.
    var today: CivilDate { Timestamp.now().date }

    /// Today where the person is; by UTC where that is not known.
    func today(of record: ProfileRecord) -> CivilDate {
        guard let timeZone = record.timeZone else { return today }
        return timeZone.date(at: .now())
    }

    func view(_ record: ProfileRecord) -> Me {
        let today = today(of: record)
        let standing = Onboarding.Standing(of: record, policy, today: today)
        var profile = [String: JSONValue](minimumCapacity: FieldCatalogue.fields.count)
        for field in FieldCatalogue.fields {
            switch field.isCity ? record.fields[field] : record.state(of: field) {
            case .answered(let value), .stale(let value): profile[field.key] = value
            case .declined: profile[field.key] = .string(FieldCatalogue.declined)
            case .skipped, nil: break
            }
        }
        return Me(
            id: record.personID, profile: profile,
            age: record.dateOfBirth.flatMap { Age.years(born: $0, on: today) }.map { Int64($0) },
            onboardingStatus: standing.onboardingStatus, onboardingStep: standing.step.rawValue,
            matchingMode: standing.matchingMode, skippedFields: record.keys(where: \.isSkipped),
            preferNotToShareFields: record.keys { $0 == .declined }, completion: CompletionRules.percentage(of: record),
            ageGate: standing.eligibleOn.map { AgeGate(allowed: false, message: underageMessage, eligibleOn: $0) },
            timeZone: record.timeZone?.name, createdAt: record.createdAt, updatedAt: record.updatedAt,
            revision: record.revision)
    }

    /// What the person has reached by this change.
    func news(from old: ProfileRecord, to new: ProfileRecord) -> [OnboardingEvent] {
        let before = OnboardingEvent.reached(by: old, policy, today: today(of: old))
        return OnboardingEvent.reached(by: new, policy, today: today(of: new)).filter { !before.contains($0) }
    }

    /// Notes what the person has reached by this change for the first time.
    @Loop func noteProgress(from old: ProfileRecord, to new: ProfileRecord, in transaction: Transaction) {
        events.note(news(from: old, to: new), of: new.personID, in: transaction)
    }

    /// A date of birth decides who gets in and is locked from now on. Which day it is stands nowhere but sealed.
    @Loop func noteDateOfBirth(
        _ change: ProfileChange, of person: Identifier, in transaction: Transaction
    ) async throws {
        guard change.dateOfBirth != nil else { return }
        let chain = try await audit.ensure(person, in: transaction)
        audit.note(AuditAct("date_of_birth_set"), on: chain, in: transaction)
    }

    /// Whether the policy has no place for who was born then.
    func isRefusedAsUnderage(_ change: ProfileChange, of record: ProfileRecord) -> Bool {
        guard rejectsUnderage, let born = change.dateOfBirth else { return false }
        return Age.eligibleOn(born: born) > today(of: record.changed(by: change))
    }

    func completion(of record: ProfileRecord) -> Completion { completion.completion(of: record, now: .now()) }

    var underageMessage: String { "You must be 18 to use \(appName)" }
}
