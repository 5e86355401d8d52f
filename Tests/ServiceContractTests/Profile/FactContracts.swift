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
