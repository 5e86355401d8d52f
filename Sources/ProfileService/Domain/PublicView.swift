import BusProtocol
import JSONText

/// The view of a person for other people.
enum PublicView {
    static let declined: JSONValue = "Prefers not to share"

    /// - Parameters:
    ///   - plan: the plan of the app in which others see the person.
    ///   - followed: the plans that the person follows. A person who is too young for one of them is visible in none.
    /// - Returns: `nil` if other people cannot see the person.
    static func person(_ record: ProfileRecord, _ plan: Plan, followed: [Plan] = [], today: CivilDate) -> PublicPerson?
    {
        guard ([plan] + followed).allSatisfy({ Onboarding.status(of: record, $0, today: today) == .active }) else {
            return nil
        }
        var profile: [String: JSONValue] = [:]
        for field in plan.catalogue.fields where field.isPublic {
            switch record.fields[field] {
            case .answered(let value), .stale(let value): profile[field.key] = value
            case .declined: profile[field.key] = declined
            case .skipped, nil: break
            }
        }
        let age = record.dateOfBirth.flatMap { Age.years(born: $0, on: today) }
        return PublicPerson(
            id: record.personID, profile: profile, age: age.map { Int64($0) }, badges: badges(of: record))
    }

    static func badges(of record: ProfileRecord) -> [String] {
        (record.photoVerification == .verified ? ["photo_verified"] : [])
            + (record.idVerification == .verified ? ["id_verified"] : [])
    }
}
