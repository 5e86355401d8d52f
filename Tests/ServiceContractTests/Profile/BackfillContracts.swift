import BusProtocol
import EventLoop

extension BackfillOnboarding: MessageContract {
    static let canonical = BackfillOnboarding(userIDs: [Sample.person])
    static let minimal = BackfillOnboarding(userIDs: [Sample.person])
    static let maximal = BackfillOnboarding(userIDs: Array(repeating: Sample.person, count: 1000))

    static let canonicalReply = OnboardingBackfilled(done: 1, already: 0, unknown: [])
    static let minimalReply = OnboardingBackfilled(done: 0, already: 0, unknown: [])
    static let maximalReply = OnboardingBackfilled(
        done: 1000, already: 1000, unknown: Array(repeating: Sample.person, count: 1000))

    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<BackfillOnboarding> {
        Asked(
            BackfillOnboarding(userIDs: [try await profile.person()]), as: .operator,
            key: "key-\(Identifier.random())")
    }

    static let provocations: [String: Provocation<ProfileProvider, BackfillOnboarding>] = [:]
}
