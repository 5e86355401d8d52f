import BusProtocol
import TestSupport
import Testing

@testable import RecoveryService

@Suite("a case's life") struct CaseRulesTests {
    private typealias Row = (CaseStatus, CaseEvent, CaseStateMachine.Outcome)
    private static let table: [Row] = [
        (.held, .holdEnded, .becomes(.identityRequired)), (.held, .disputed, .becomes(.disputed)),
        (.identityRequired, .holdEnded, .alreadyDone), (.identityRequired, .disputed, .becomes(.disputed)),
        (.inReview, .holdEnded, .alreadyDone), (.inReview, .disputed, .becomes(.disputed)),
        (.approved, .holdEnded, .alreadyDone), (.approved, .disputed, .becomes(.disputed)),
        (.completing, .holdEnded, .alreadyDone), (.completing, .disputed, .refused),
        (.completed, .holdEnded, .alreadyDone), (.completed, .disputed, .refused),
        (.disputed, .holdEnded, .alreadyDone), (.disputed, .disputed, .alreadyDone),
        (.contested, .holdEnded, .alreadyDone), (.contested, .disputed, .refused),
        (.rejected, .holdEnded, .alreadyDone), (.rejected, .disputed, .refused),
        (.cancelled, .holdEnded, .alreadyDone), (.cancelled, .disputed, .refused),
        (.expired, .holdEnded, .alreadyDone), (.expired, .disputed, .refused),
        (.held, .withdrawn, .becomes(.cancelled)), (.identityRequired, .withdrawn, .becomes(.cancelled)),
        (.inReview, .withdrawn, .becomes(.cancelled)), (.approved, .withdrawn, .becomes(.cancelled)),
        (.completing, .withdrawn, .refused), (.completed, .withdrawn, .refused),
        (.disputed, .withdrawn, .alreadyDone), (.contested, .withdrawn, .becomes(.cancelled)),
        (.rejected, .withdrawn, .refused), (.cancelled, .withdrawn, .alreadyDone), (.expired, .withdrawn, .refused),
    ]

    @Test func theWholeTable() {
        for (status, event, outcome) in Self.table {
            #expect(CaseStateMachine.outcome(of: event, in: status) == outcome, "\(event) in \(status)")
        }
        #expect(Self.table.count == CaseStatus.allCases.count * CaseEvent.allCases.count)
    }

    @Test func nothingMovesACaseThatIsClosed() {
        for status in CaseStatus.allCases where status.isClosed {
            for event in CaseEvent.allCases {
                if case .becomes(let next) = CaseStateMachine.outcome(of: event, in: status) {
                    Issue.record("\(event) moves \(status) to \(next)")
                }
            }
        }
    }

    private static let start = Timestamp("2026-02-20T09:00:00Z")!
    private static let end = start + .seconds(259_200)

    private func view(_ status: CaseStatus, isWithdrawn: Bool = false, at now: Timestamp) -> RecoveryCaseView {
        ClaimantView.view(
            status: status, isWithdrawn: isWithdrawn, requestedAt: Self.start, holdUntil: Self.end, now: now)
    }

    @Test("a claimant cannot see a dispute", arguments: [0, 1, 259_199, 259_200, 1_000_000] as [Int64])
    func dispute(secondsLater: Int64) {
        let now = Self.start + .seconds(secondsLater)
        let undisturbed = view(secondsLater < 259_200 ? .held : .identityRequired, at: now)
        #expect(view(.disputed, at: now) == undisturbed)
        #expect(view(.contested, at: now) == undisturbed)
        let withdrawn = view(.cancelled, isWithdrawn: true, at: now)
        #expect(view(.disputed, isWithdrawn: true, at: now) == withdrawn && withdrawn.status == "cancelled")
        #expect(undisturbed.status == (secondsLater < 259_200 ? "held" : "identity_required"))
    }

    @Test func aTimerThatIsLateIsNotSeenEither() {
        #expect(view(.held, at: Self.end) == view(.identityRequired, at: Self.end))
    }

    @Test func countsWholeSecondsDownToZero() {
        #expect(view(.held, at: Self.start).remainingSeconds == 259_200)
        #expect(view(.held, at: Self.end - .microseconds(1)).remainingSeconds == 1)
        #expect(view(.held, at: Self.end).remainingSeconds == 0)
        #expect(view(.held, at: Self.end + .seconds(9)).remainingSeconds == 0)
    }

    @Test(
        "each status has its place among the steps",
        arguments: [
            (.identityRequired, ["done", "current", "pending", "pending"]),
            (.inReview, ["done", "done", "current", "pending"]), (.approved, ["done", "done", "done", "current"]),
            (.completed, ["done", "done", "done", "done"]),
            (.cancelled, ["current", "pending", "pending", "pending"]),
        ] as [(CaseStatus, [String])])
    func steps(status: CaseStatus, states: [String]) {
        #expect(view(status, at: Self.end).steps.map(\.state) == states)
    }

    @Test func migrationsAreThoseOfTheFolder() throws {
        #expect(try SourceFolder.migrations(of: "RecoveryService") == RecoveryMigrations.all)
    }
}
