import BusProtocol
import EventLoop
import JSONText

extension GetPerson: MessageContract {
    static let canonical = GetPerson(personId: Sample.person)
    static let minimal: GetPerson = canonical
    static let maximal: GetPerson = canonical

    static let canonicalReply = PublicPerson(
        id: Sample.person,
        profile: ["displayName": "Zoë", "gender": "Prefers not to share", "lookingFor": ["men", "women"]], age: 31,
        badges: [])
    static let minimalReply = PublicPerson(id: Sample.person, profile: [:], age: nil, badges: [])
    static let maximalReply = PublicPerson(
        id: Sample.person, profile: ["bio": "Fika är livet ☕️", "heightInches": 70], age: 150,
        badges: ["photo_verified", "id_verified"])

    static let errors: [BusError] = [Sample.unauthorized, BusError(.notFound, "There is no such person.")]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetPerson> {
        let person = try await profile.person()
        return Asked(GetPerson(personId: person), for: person)
    }

    static let provocations: [String: Provocation<ProfileProvider, GetPerson>] = [
        "unauthorized": { _ in Asked(GetPerson(personId: Sample.person)) },
        "not_found": { Asked(GetPerson(personId: .random()), for: try await $0.person()) },
    ]
}

extension GetRequirements: MessageContract {
    static let canonical = GetRequirements()
    static let minimal = GetRequirements()
    static let maximal = GetRequirements()

    private static let nothing = CapabilityNeeds()
    private static let some = CapabilityNeeds(
        currentlyDue: ["city", "questionnaire"], eventuallyDue: ["photo", "bio"],
        alternatives: [.init(original: ["city"], alternative: ["coordinates"])], disabledReason: "requirements_due")
    private static let most = CapabilityNeeds(
        currentlyDue: ["gender", String(repeating: "f", count: 64)], eventuallyDue: ["photo"], pastDue: ["gender"],
        pendingVerification: ["verification"], errors: [.init(field: "gender", code: "stale")],
        alternatives: [.init(original: ["city"], alternative: ["coordinates"])], disabledReason: "underage",
        currentDeadline: Sample.latest)

    static let canonicalReply = Requirements(
        appAccess: nothing, browse: nothing, like: nothing, match: some, message: nothing, formerFullConfidence: some)
    static let minimalReply = Requirements(
        appAccess: nothing, browse: nothing, like: nothing, match: nothing, message: nothing,
        formerFullConfidence: nothing)
    static let maximalReply = Requirements(
        appAccess: nothing, browse: most, like: most, match: most, message: most, formerFullConfidence: most,
        eligibleOn: CivilDate("2027-03-01")!)

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetRequirements> {
        Asked(GetRequirements(), for: try await profile.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, GetRequirements>] = [
        "unauthorized": { _ in Asked(GetRequirements()) }
    ]
}
