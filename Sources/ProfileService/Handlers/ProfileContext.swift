import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// The dependencies and rules that the handlers of profile share.
struct ProfileContext: Sendable {
    let database: Database
    let inbox: Inbox
    let audit: AuditTrail
    let bus: Bus
    let log: Log
    let store: ProfileStore
    let events: EventStore
    let policy: Onboarding.Policy
    /// Whether an under-age date of birth is refused instead of stored.
    let rejectsUnderage: Bool
    let appName: String
    let completion: CompletionRules

    /// The key of the questionnaire that onboarding requires.
    let questionnaire: String

    /// The date in UTC, for questions that concern no single person.
    var today: CivilDate { Timestamp.now().date }

    /// The date in the person's time zone. If that is unknown, it is the date in UTC.
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
            ageGate: ageGate(until: standing.eligibleOn),
            timeZone: record.timeZone?.name, createdAt: record.createdAt, updatedAt: record.updatedAt,
            revision: record.revision)
    }

    /// The onboarding events that the person reaches by this change.
    func news(from old: ProfileRecord, to new: ProfileRecord) -> [OnboardingEvent] {
        let before = OnboardingEvent.reached(by: old, policy, today: today(of: old))
        return OnboardingEvent.reached(by: new, policy, today: today(of: new)).filter { !before.contains($0) }
    }

    /// Stores the onboarding events that the person reaches by this change.
    @Loop func noteProgress(from old: ProfileRecord, to new: ProfileRecord, in transaction: Transaction) {
        events.note(news(from: old, to: new), of: new.personID, in: transaction)
    }

    /// If the change sets a date of birth, adds an entry to the audit trail, because that date decides access and is
    /// then locked. The entry does not contain the date, which is only stored sealed.
    @Loop func noteDateOfBirth(
        _ change: ProfileChange, of person: Identifier, in transaction: Transaction
    ) async throws {
        guard change.dateOfBirth != nil else { return }
        let chain = try await audit.ensure(person, in: transaction)
        audit.note(AuditAct("date_of_birth_set"), on: chain, in: transaction)
    }

    /// Whether the age policy refuses the new date of birth.
    func isRefusedAsUnderage(_ change: ProfileChange, of record: ProfileRecord) -> Bool {
        guard rejectsUnderage, let born = change.dateOfBirth else { return false }
        return Age.eligibleOn(born: born) > today(of: record.changed(by: change))
    }

    func completion(of record: ProfileRecord) -> Completion { completion.completion(of: record, now: .now()) }

    /// What a person who is too young is told, alike in every answer.
    func ageGate(until eligibleOn: CivilDate?) -> AgeGate? {
        eligibleOn.map { AgeGate(allowed: false, message: underageMessage, eligibleOn: $0) }
    }

    var underageMessage: String { "You must be 18 to use \(appName)" }
}
