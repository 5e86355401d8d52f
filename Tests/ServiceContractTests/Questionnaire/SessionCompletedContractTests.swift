import BusProtocol
import JSONText

enum SessionCompletedContract: MessageContract {
    private static let person = Identifier("5f0c1f3e-6a52-4a7e-9d5b-0c9a3f2b1d10")!
    private static let session = Identifier("019c2f00-0000-7000-8000-000000000001")!

    static let canonical = SessionCompleted(
        personID: person, personSequence: 3, sessionID: session, questionnaire: "yoked-compat", version: 1,
        completedAt: Timestamp("2026-02-20T09:00:00Z")!)
    static let minimal = SessionCompleted(
        personID: person, sessionID: session, questionnaire: "a", version: 1,
        completedAt: Timestamp("1970-01-01T00:00:00Z")!)
    static let maximal = SessionCompleted(
        personID: person, personSequence: 9_007_199_254_740_991, sessionID: session,
        questionnaire: String(repeating: "a", count: 64), version: 2_147_483_647,
        completedAt: Timestamp("9999-12-31T23:59:59.999999Z")!)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []
}
