import BusProtocol
import EventLoop

extension CaseOpened: MessageContract {
    static let canonical = CaseOpened(
        personID: Sample.person, personSequence: 1, caseID: Sample.recovery, holdUntil: Sample.everyday)
    static let minimal = CaseOpened(personID: Sample.person, caseID: Sample.recovery, holdUntil: Sample.earliest)
    static let maximal = CaseOpened(
        personID: Sample.person, personSequence: Sample.largestInteger, caseID: Sample.recovery,
        holdUntil: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<CaseOpened> {
        let begun = try await auth.begunRecovery()
        return Asked(
            CaseOpened(
                personID: begun.person, personSequence: 1, caseID: begun.caseID, holdUntil: .now() + .seconds(9_000_000)
            ),
            as: .recovery)
    }

    static let provocations: [String: Provocation<AuthProvider, CaseOpened>] = [:]
}

extension CaseClosed: MessageContract {
    static let canonical = CaseClosed(
        personID: Sample.person, personSequence: 3, caseID: Sample.recovery, outcome: "disputed",
        closedAt: Sample.everyday)
    static let minimal = CaseClosed(
        personID: Sample.person, caseID: Sample.recovery, outcome: "d", closedAt: Sample.earliest)
    static let maximal = CaseClosed(
        personID: Sample.person, personSequence: Sample.largestInteger, caseID: Sample.recovery,
        outcome: String(repeating: "o", count: 32), closedAt: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<CaseClosed> {
        let begun = try await auth.begunRecovery()
        return Asked(
            CaseClosed(
                personID: begun.person, personSequence: 1, caseID: begun.caseID, outcome: "disputed", closedAt: .now()),
            as: .recovery)
    }

    static let provocations: [String: Provocation<AuthProvider, CaseClosed>] = [:]
}
