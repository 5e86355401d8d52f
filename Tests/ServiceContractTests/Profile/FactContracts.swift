import BusProtocol
import EventLoop

extension GetFacts: MessageContract {
    static let canonical = GetFacts(personID: Sample.person, fields: ["country"])
    static let minimal = GetFacts(personID: Sample.person, fields: ["c"])
    static let maximal = GetFacts(
        personID: Sample.person, fields: (0..<64).map { _ in String(repeating: "f", count: 64) })

    static let canonicalReply = ProfileFacts(facts: ["country": "SE"])
    static let minimalReply = ProfileFacts(facts: [:])
    static let maximalReply = ProfileFacts(facts: ["city": "Åre ⛷️", "country": "SE", "state": "Jämtland"])

    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetFacts> {
        let person = try await profile.person(UpdateMe(fields: ["country": "SE"]))
        return Asked(GetFacts(personID: person, fields: ["country"]), as: .questionnaire)
    }

    static let provocations: [String: Provocation<ProfileProvider, GetFacts>] = [:]
}

extension DescribePerson: MessageContract {
    static let canonical = DescribePerson(personID: Sample.person)
    static let minimal: DescribePerson = canonical
    static let maximal: DescribePerson = canonical

    static let canonicalReply = PersonDescription(firstName: "Zoë", ageBand: "25-34", badges: ["photo_verified"])
    static let minimalReply = PersonDescription(badges: [])
    static let maximalReply = PersonDescription(
        firstName: String(repeating: "ö", count: 200), ageBand: String(repeating: "a", count: 16),
        badges: (0..<16).map { _ in String(repeating: "b", count: 64) })
    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<DescribePerson> {
        let person = try await profile.person(UpdateMe(fields: ["firstName": "Zoë", "dateOfBirth": "1994-02-28"]))
        return Asked(DescribePerson(personID: person), as: .recovery)
    }

    static let provocations: [String: Provocation<ProfileProvider, DescribePerson>] = [:]
}
