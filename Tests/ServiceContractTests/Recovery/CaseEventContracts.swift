import BusProtocol

enum CaseOpenedContract: MessageContract {
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
}

enum CaseClosedContract: MessageContract {
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
}
