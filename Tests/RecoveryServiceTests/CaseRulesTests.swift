import BusProtocol
import TestSupport
import Testing

@testable import RecoveryService

@Suite("a case's life") struct CaseRulesTests {
    @Test func thePublicDocumentListsEveryStatus() {
        #expect(RecoveryCaseView.schema.known("status") == CaseStatus.allCases.map(\.rawValue).sorted())
    }

    /// The table as a text: from each status, what may happen, by whom, and where it leads. `!` tells the owner, `-` lifts the
    /// freeze, `x` bars the claimant.
    private static let lines = """
        held: clock hold_ended identity_required, claimant withdrawn cancelled!-, owner disputed disputed!-x,
            owner contested contested!, auth voided rejected-
        identity_required: claimant evidence_given in_review, claimant withdrawn cancelled!-, owner disputed disputed!-x,
            owner contested contested!, clock neglected expired!-, auth voided rejected-
        in_review: reviewer partly_approved in_review, reviewer approved approved!, reviewer rejected rejected!-,
            claimant withdrawn cancelled!-, owner disputed disputed!-x, owner contested contested!,
            clock neglected expired!-, auth voided rejected-
        contested: clock hold_ended contested, claimant evidence_given contested,
            owner owner_evidence_given contested, reviewer partly_approved contested,
            reviewer approved approved!, reviewer rejected rejected!-x, claimant withdrawn cancelled!-,
            clock neglected expired!-, auth voided rejected-
        approved: claimant completion_begun completing, claimant withdrawn cancelled!-, owner disputed disputed!-x,
            owner contested contested!, clock neglected expired!-, auth voided rejected-
        completing: auth completed completed-, auth completion_refused approved, auth voided rejected-
        """

    private static let table: Set<String> = {
        var rows: Set<String> = []
        var from = ""
        for part in lines.split(whereSeparator: { ",\n".contains($0) }) {
            var words = part.split(separator: " ").map(String.init)
            if words[0].hasSuffix(":") { from = String(words.removeFirst().dropLast()) }
            rows.insert(([from] + words).joined(separator: " "))
        }
        return rows
    }()

    @Test func theMachineAllowsExactlyTheRowsOfTheTable() {
        var found: Set<String> = []
        for status in CaseStatus.allCases {
            for event in CaseEvent.allCases {
                for actor in CaseActor.allCases {
                    guard
                        case .moves(let next, let effects) = CaseStateMachine.outcome(of: event, by: actor, in: status)
                    else { continue }
                    let marks = [(CaseEffect.ownerTold, "!"), (.freezeLifted, "-"), (.claimantBarred, "x")]
                        .map { effects.contains($0) ? $1 : "" }.joined()
                    found.insert("\(status.rawValue) \(actor) \(event.rawValue) \(next.rawValue)\(marks)")
                }
            }
        }
        #expect(found.symmetricDifference(Self.table).sorted() == [])
        #expect(CaseStateMachine.table.count == Self.table.count, "no line stands there twice")
    }

    @Test("each event that moves nothing is refused or done already")
    func refusals() {
        let expected: [(CaseEvent, CaseActor, CaseStatus, CaseStateMachine.Outcome)] = [
            (.evidenceGiven, .claimant, .held, .refused(.tooEarly)),
            (.evidenceGiven, .claimant, .inReview, .alreadyDone),
            (.ownerEvidenceGiven, .owner, .held, .refused(.tooEarly)),
            (.ownerEvidenceGiven, .owner, .inReview, .refused(.tooLate)),
            (.ownerEvidenceGiven, .claimant, .contested, .refused(.notTheirs)),
            (.evidenceGiven, .claimant, .approved, .refused(.tooLate)),
            (.completionBegun, .claimant, .inReview, .refused(.tooEarly)),
            (.completionBegun, .claimant, .completing, .refused(.tooLate)),
            (.approved, .reviewer, .identityRequired, .refused(.tooEarly)),
            (.approved, .reviewer, .approved, .alreadyDone),
            (.approved, .reviewer, .disputed, .refused(.tooLate)), (.disputed, .owner, .disputed, .alreadyDone),
            (.disputed, .owner, .contested, .alreadyDone), (.disputed, .owner, .completing, .refused(.tooLate)),
            (.disputed, .owner, .completed, .refused(.tooLate)), (.disputed, .owner, .rejected, .refused(.tooLate)),
            (.withdrawn, .claimant, .cancelled, .alreadyDone), (.withdrawn, .claimant, .completing, .refused(.tooLate)),
            (.holdEnded, .clock, .disputed, .alreadyDone), (.neglected, .clock, .completing, .alreadyDone),
            (.disputed, .claimant, .held, .refused(.notTheirs)), (.withdrawn, .owner, .held, .refused(.notTheirs)),
            (.approved, .claimant, .inReview, .refused(.notTheirs)),
            (.holdEnded, .claimant, .held, .refused(.notTheirs)),
            (.completed, .claimant, .completing, .refused(.notTheirs)),
            (.voided, .auth, .completed, .refused(.tooLate)), (.completed, .auth, .rejected, .refused(.tooLate)),
        ]
        for (event, actor, status, outcome) in expected {
            #expect(CaseStateMachine.outcome(of: event, by: actor, in: status) == outcome, "\(event) in \(status)")
        }
    }

    /// Only the owner can dispute a case, and an account moves only after the approval of two reviewers. The test
    /// judges each life by its events, not by the table.
    @Test("random sequences of events keep the invariants", arguments: [false, true])
    func randomLives(isDecoy: Bool) {
        var generator = SystemRandomNumberGenerator()
        var (events, completed, disputed) = (0, 0, 0)
        // So few lives are completed that one in two hundred runs would see none.
        while events < 100_000 || !isDecoy && completed == 0 && events < 2_000_000 {
            var walk = Walk(isDecoy: isDecoy)
            // Longer than any life; what comes after its end must change nothing.
            for _ in 0..<60 {
                let event = CaseEvent.allCases.randomElement(using: &generator) ?? .withdrawn
                // Mostly who may, and somebody else now and then.
                let actor =
                    Int.random(in: 0..<8, using: &generator) == 0
                    ? CaseActor.allCases.randomElement(using: &generator) ?? .clock : Walk.usual(event, isDecoy)
                if let broken = walk.take(event, by: actor) {
                    Issue.record("\(broken): \(walk.story.joined(separator: ", "))")
                    return
                }
                events += 1
            }
            completed += walk.life.status == .completed ? 1 : 0
            disputed += walk.life.status == .disputed ? 1 : 0
        }
        #expect(isDecoy ? completed == 0 && disputed == 0 : completed > 0 && disputed > 0, "some get everywhere")
    }

    private static let start = Timestamp("2026-02-20T09:00:00Z")!
    private static let end = start + .seconds(259_200)

    private func view(_ seen: CaseStatus, at now: Timestamp) -> RecoveryCaseView {
        ClaimantView.view(seen: seen, requestedAt: Self.start, holdUntil: Self.end, now: now)
    }

    /// Compares three cases with the same steps: a real one, one that is disputed after some steps, and a decoy.
    @Test("a claimant cannot see a dispute", arguments: 0...2)
    func dispute(after steps: Int) {
        let acts: [(CaseEvent, CaseActor)] = [
            (.holdEnded, .clock), (.evidenceGiven, .claimant), (.rejected, .reviewer),
        ]
        var real = CaseLife(status: .held, shadow: nil, isDecoy: false)
        var (disputed, contested, decoy) = (real, real, CaseLife(status: .held, shadow: nil, isDecoy: true))
        for (step, (event, actor)) in acts.enumerated() {
            if step == steps {
                Self.step(&disputed, .disputed, .owner)
                Self.step(&contested, .contested, .owner)
                #expect(disputed.status == .disputed && contested.status == .contested)
            }
            Self.step(&real, event, actor)
            Self.step(&decoy, event, event == .rejected ? .clock : actor)
            Self.step(&disputed, event, event == .rejected && step >= steps ? .clock : actor)
            Self.step(&contested, event, actor)
            #expect(disputed.seen == real.seen && contested.seen == real.seen && decoy.seen == real.seen)
        }
        #expect(real.seen == .rejected && disputed.status == .disputed)
    }

    private static func step(_ life: inout CaseLife, _ event: CaseEvent, _ actor: CaseActor) {
        guard case .moves(let next, _) = life.after(event, by: actor) else {
            Issue.record("\(event) by \(actor) in \(life)")
            return
        }
        life = next
    }

    @Test func aDisputeAfterTheApprovalLooksLikeARejection() {
        var life = CaseLife(status: .approved, shadow: nil, isDecoy: false)
        Self.step(&life, .disputed, .owner)
        #expect(life.seen == .rejected)
    }

    /// Whatever a claimant sees of a real case, except the account itself, a decoy can show as well. This includes the
    /// replies to the claimant's own steps.
    @Test func everyCourseThatAClaimantCanSeeIsOneOfADecoy() {
        let real = Courses(of: CaseLife(status: .held, shadow: nil, isDecoy: false))
        let decoy = Courses(of: CaseLife(status: .held, shadow: nil, isDecoy: true))
        // What a decoy shows next depends only on what it shows now. So what holds for each step holds for every
        // course.
        #expect(real.steps.subtracting(decoy.steps).sorted() == [], "tells of an account, or what its owner said")
        #expect(decoy.steps.subtracting(real.steps).sorted() == [], "tells that there is none")
        let courses = real.lists(upTo: 9)
        #expect(courses.subtracting(decoy.lists(upTo: 9)).sorted() == [])
        for course in [
            "held identity_required in_review rejected", "held identity_required in_review approved rejected",
            "held identity_required in_review approved in_review rejected",
            "held identity_required in_review approved completing approved rejected",
        ] {
            #expect(courses.contains(course), "\(course)")
        }
    }

    @Test("each decision of the clock about a decoy is visible", arguments: CaseStatus.allCases)
    func decoyCourse(seen: CaseStatus) {
        let events = Set((0..<DecoyOutcome.oneIn).compactMap { DecoyOutcome.event(in: seen, by: $0) })
        switch seen {
        case .inReview: #expect(events == [.approved, .rejected])
        case .approved: #expect(events == [.contested, .disputed])
        default: #expect(events == [])
        }
        for event in events {
            var life = CaseLife(status: seen, shadow: nil, isDecoy: true)
            Self.step(&life, event, .clock)
            #expect(life.seen != seen)
        }
    }

    @Test func aLateTimerIsNotVisible() {
        #expect(view(.held, at: Self.end) == view(.identityRequired, at: Self.end))
        #expect(view(.held, at: Self.end - .microseconds(1)).status == "held")
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

/// What can be seen of a life: each step from one shown status to the next, and whether the claimant made it. Replies
/// to acts of the claimant that change nothing count, too.
struct Courses {
    private(set) var steps: Set<String> = []
    /// What may be shown next.
    private var next: [String: Set<String>] = [:]

    init(of first: CaseLife) {
        var known: Set<[String]> = []
        var waiting = [first]
        while let life = waiting.popLast() {
            guard known.insert([life.status.rawValue, life.shadow?.rawValue ?? ""]).inserted else { continue }
            for event in CaseEvent.allCases {
                for actor in CaseActor.allCases where !Self.isIdle(event, by: actor, life) {
                    switch life.after(event, by: actor) {
                    case .moves(let next, _):
                        waiting.append(next)
                        guard next.seen != life.seen, next.seen != .completed else { continue }
                        steps.insert(Self.line(life, actor == .claimant ? event.rawValue : "waits", next.seen.rawValue))
                        self.next[life.seen.rawValue, default: []].insert(next.seen.rawValue)
                    case let step where actor == .claimant:
                        steps.insert(Self.line(life, event.rawValue, "\(step)"))
                    default: continue
                    }
                }
            }
        }
    }

    private static func line(_ life: CaseLife, _ event: String, _ next: String) -> String {
        "\(life.seen.rawValue) \(event) \(next)"
    }

    /// In a shadow, the clock does only what ``DecoyOutcome`` says. After the end of a case, nothing is checked.
    private static func isIdle(_ event: CaseEvent, by actor: CaseActor, _ life: CaseLife) -> Bool {
        guard actor == .clock, life.isDecidedByClock, ![.holdEnded, .neglected].contains(event) else {
            return life.seen == .completed
        }
        return !(0..<DecoyOutcome.oneIn).contains { DecoyOutcome.event(in: life.seen, by: $0) == event }
    }

    /// Whether this can be shown, one after the other.
    func show(_ course: [String]) -> Bool {
        zip(course, course.dropFirst()).allSatisfy { next[$0]?.contains($1) == true }
    }

    /// All that can be shown, one after the other.
    func lists(upTo length: Int) -> Set<String> {
        var (all, last): (Set<String>, [[String]]) = ([], [["held"]])
        for _ in 1..<length {
            last = last.flatMap { list in (next[list[list.count - 1]] ?? []).map { list + [$0] } }
            all.formUnion(last.map { $0.joined(separator: " ") })
        }
        return all
    }
}

/// A life, with what was accepted in it.
private struct Walk {
    var life: CaseLife
    private(set) var happened: [CaseEvent] = []
    private(set) var story: [String] = []
    private var lifted = 0

    init(isDecoy: Bool) { life = CaseLife(status: .held, shadow: nil, isDecoy: isDecoy) }

    static func usual(_ event: CaseEvent, _ isDecoy: Bool) -> CaseActor {
        switch event {
        case .disputed, .contested: isDecoy ? .clock : .owner
        case .ownerEvidenceGiven: .owner
        case .withdrawn, .evidenceGiven, .completionBegun: .claimant
        case .rejected: isDecoy || Bool.random() ? .clock : .reviewer
        case .partlyApproved: .reviewer
        case .approved: isDecoy ? .clock : .reviewer
        case .completed, .completionRefused, .voided: .auth
        case .holdEnded, .neglected: .clock
        }
    }

    /// - Returns: the promise that was broken.
    mutating func take(_ event: CaseEvent, by actor: CaseActor) -> String? {
        let before = life
        guard case .moves(let after, let effects) = life.after(event, by: actor) else { return nil }
        story.append("\(actor) \(event)")
        let past = happened
        happened.append(event)
        life = after
        lifted += effects.contains(.freezeLifted) ? 1 : 0
        let isTruth = before.status != after.status
        if before.status.isClosed, isTruth { return "a case that is over moved" }
        if before.seen.isClosed, after.seen != before.seen { return "what is seen as over moved" }
        if after.isDecoy, !effects.isEmpty { return "something came of a decoy" }
        if !after.isDecoy, lifted != (after.status.isClosed ? 1 : 0) { return "the freeze is lifted once, at the end" }
        let isBarring =
            !before.isDecidedByClock && (event == .disputed || event == .rejected && before.status == .contested)
        if effects.contains(.claimantBarred) != isBarring {
            return "barred without a dispute that was right, or not by one"
        }
        let isToldByAuth = event == .completed || event == .voided
        if !after.isDecoy, isTruth, after.status.isClosed, !isToldByAuth, !effects.contains(.ownerTold) {
            return "the owner is not told"
        }
        if before.isDecidedByClock, !after.isDecoy, isTruth { return "something came of a shadow" }
        if !before.isDecidedByClock {
            if [.disputed, .contested].contains(event), actor != .owner { return "somebody else said no" }
            if [.approved, .partlyApproved].contains(event), actor != .reviewer { return "somebody else said yes" }
        }
        if event == .rejected, actor != .reviewer, !before.isDecidedByClock { return "the clock decided upon a claim" }
        if [.approved, .partlyApproved, .rejected].contains(event), !past.contains(.evidenceGiven) {
            return "decided without evidence"
        }
        if after.status == .completing, !past.contains(.approved) { return "moved without an approval" }
        if event == .evidenceGiven, !past.contains(.holdEnded) { return "evidence during the hold" }
        if after.status == .completed, past.last == .disputed { return "completed over a dispute" }
        if after.isDecoy, after.seen == .completed { return "a decoy was completed" }
        if before.status == .disputed, after.status != .disputed { return "a dispute was lost" }
        if after.seen == .disputed || after.seen == .contested { return "the claimant sees what the owner said" }
        return nil
    }
}
