import BusProtocol
import Testing

@testable import VestibuleCLI

@Suite("the sums of vestibule questionnaire migrate") struct QuestionnaireSessionMigrationTotalsTests {
    private static func batch(moved: Int64, _ codes: [String]) -> SessionsMigrated {
        SessionsMigrated(
            toVersion: 2, sessions: moved, kept: 0, stale: 0, orphaned: 0, remaining: 5, next: "next",
            notMoved: codes.map { SessionNotMoved(sessionID: .ordered(), code: $0) })
    }

    @Test func sessionsThatWereNotMovedAreCountedByTheirCode() {
        var sum = QuestionnaireSessionMigrationTotals()
        #expect(sum.add(Self.batch(moved: 3, [])) == "next" && sum.warning == nil)
        #expect(sum.add(Self.batch(moved: 1, ["service_unavailable", "date_not_opened"])) == "next")
        #expect(sum.add(Self.batch(moved: 0, ["date_not_opened"])) == "next", "others can be moved")
        #expect(sum.warning?.contains("date_not_opened 2, service_unavailable 1") == true)
        #expect(sum.line.hasPrefix("4 sessions to version 2"))
    }

    @Test func aMigrationRunEndsWhileProfileIsUnavailable() {
        var sum = QuestionnaireSessionMigrationTotals()
        #expect(sum.add(Self.batch(moved: 0, ["date_not_opened", "service_unavailable"])) == nil)
        #expect(sum.warning != nil)
    }
}
