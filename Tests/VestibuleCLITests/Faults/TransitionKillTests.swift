import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import RecoveryService
@testable import VestibuleCLI

/// Makes each transition of a case, and each act of auth for a case, with a `kill -9` while PostgreSQL commits it. The
/// commit is rolled back, or it is done and its reply is lost. Then the caller asks again.
@Suite("a recovery that is killed at each transition", .serialized) struct TransitionKillTests {
    /// Whether the transaction of the killed process is committed.
    enum CommitOutcome: CaseIterable { case undone, done }

    /// A transition, by the act that its transaction writes down.
    struct Moment: CustomStringConvertible, Sendable {
        let service: ServiceName
        let act: String
        let line: CaseTransition

        var description: String { "\(service) \(act) from \(line.from.rawValue)" }
    }

    private static let moments: [Moment] = {
        let begun = CaseTransition(.held, .withdrawn, .claimant, .held)
        let completed = CaseTransition(.completing, .completed, .auth, .completed)
        let ended = CaseTransition(.held, .disputed, .owner, .disputed, [.ownerTold, .freezeLifted, .claimantBarred])
        // A case that is voided because another one moved the account is voided in the transaction that completes the
        // other.
        let lines = CaseStateMachine.table.filter { $0.event != .voided || $0.from == .completing }
        return lines.map { Moment(service: .recovery, act: $0.event.rawValue, line: $0) } + [
            Moment(service: .auth, act: "recovery_begun", line: begun),
            Moment(service: .recovery, act: "requested", line: begun),
            Moment(service: .auth, act: "account_recovered", line: completed),
            Moment(service: .auth, act: "recovery_ended", line: ended),
        ]
    }()

    private static let parts = 5

    @Test(arguments: 0..<parts) func aKillLeavesEachCaseInOneStateWithItsNoticesOnce(part: Int) async throws {
        try await Fleet.run { fleet in
            try fleet.start(.profile)
            let killed = Killed(fleet)
            try await killed.begin()
            // Each transition in one of the two ways, so that both are in every run; all of both in `make prove`.
            let isAll = Rounds.areMany
            for (number, moment) in Self.moments.enumerated() where number % Self.parts == part {
                for (place, outcome) in CommitOutcome.allCases.enumerated() where isAll || (number + place) % 2 == 0 {
                    try await Life(killed, moment, outcome).run()
                }
            }
            print("\(killed.count) kills, of \(Self.moments.count) transitions the part \(part)")
        }
    }
}

/// The processes, of which one is killed while it commits.
@Loop private final class Killed {
    let fleet: Fleet
    private(set) var count = 0
    private var running: [ServiceName: pid_t] = [:]
    private var people = 0

    init(_ fleet: Fleet) { self.fleet = fleet }

    /// Numbers of a new person and of a claimant of their account.
    func newNumbers() -> (owner: String, claimant: String) {
        people += 1
        return (String(format: "+46701%06d", people), String(format: "+46761%06d", people))
    }

    func begin() async throws {
        for service in [ServiceName.auth, .recovery] { try await start(service) }
        try await fleet.ready(.profile, 1)
        try await fleet.sql(
            """
            CREATE TABLE public.gate (state text NOT NULL);
            INSERT INTO public.gate VALUES ('closed');
            CREATE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                WHILE (SELECT state FROM public.gate) = 'closed' LOOP PERFORM pg_sleep(0.005); END LOOP;
                IF (SELECT state FROM public.gate) = 'torn' THEN RAISE 'undone'; END IF;
                RETURN NULL;
            END $$;
            """)
    }

    private func start(_ service: ServiceName) async throws {
        // Longer than the test, which ends each hold by a change in the tables.
        running[service] = try fleet.start(service, variables: service == .recovery ? ["RECOVERY_HOLD": "72h"] : [:])
        try await fleet.ready(service, 1)
    }

    /// Begins an act, kills the service while PostgreSQL commits it, and starts another process.
    func kill(
        _ moment: TransitionKillTests.Moment, _ outcome: TransitionKillTests.CommitOutcome,
        during act: @escaping @Loop @Sendable () async throws -> Void
    ) async throws {
        let service = moment.service
        try await fleet.sql(
            """
            CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON \(service).audit DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.act = '\(moment.act)') EXECUTE FUNCTION public.wait_at_gate()
            """)
        let asking = Loop.spawn { try await act() }
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'
            """
        try await fleet.wait(until: waiting, is: "1")
        fleet.kill(try #require(running[service]))
        count += 1
        switch outcome {
        case .undone: try await fleet.sql("UPDATE public.gate SET state = 'torn'")
        case .done: try await fleet.sql("UPDATE public.gate SET state = 'open'")
        }
        try await fleet.wait(until: waiting, is: "0")
        // Statements of the dead process may still reach the gate. So the trigger is removed only when nothing waits
        // there.
        try await fleet.sql("DROP TRIGGER gate ON \(service).audit")
        try await fleet.sql("UPDATE public.gate SET state = 'closed'")
        try await fleet.endLeases(of: [service])
        try await start(service)
        try await asking.value
    }

    func ask<Request: BusRequest>(
        _ request: Request, as session: Session? = nil, role: Role = .user
    ) async throws -> Request.Reply {
        var options = fleet.options(key: "key-\(Identifier.random())")
        options.actor = session.map { Actor(userID: $0.user.id, sessionID: $0.sessionId, role: role) }
        options.accessToken = session?.accessToken
        return try await EffectOnceTests.insist { try await fleet.gateway.call(request, options) }
    }

    func signIn(_ phone: String) async throws -> Session {
        let (challenge, code) = try await self.code(for: phone, "login")
        let device = DeviceClaim(name: "Pixel 8", platform: "android", pushToken: "push-of-\(phone)")
        return try await ask(VerifyOTP(challengeId: challenge, code: code, device: device))
    }

    func staff() async throws -> Session {
        let (phone, _) = newNumbers()
        let person = try await signIn(phone).user.id
        try await fleet.sql("UPDATE auth.accounts SET role = 'staff' WHERE id = '\(person)'")
        return try await signIn(phone)
    }

    func code(for phone: String, _ purpose: String) async throws -> (challenge: Identifier, code: String) {
        try await fleet.sql("UPDATE auth.challenges SET created_at = created_at - interval '1 hour'")
        let known = fleet.codes(for: phone).count
        let sent = try await ask(SendOTP(phone: phone, purpose: purpose))
        let isThere = try await eventually(within: .seconds(45)) { fleet.codes(for: phone).count > known }
        try #require(isThere, "no SMS came")
        return (sent.challengeId, fleet.codes(for: phone)[known])
    }
}

/// Brings a case to the start of a transition, and checks it afterwards.
@Loop private struct Life {
    private let killed: Killed
    private let moment: TransitionKillTests.Moment
    private let outcome: TransitionKillTests.CommitOutcome
    private let numbers: (owner: String, claimant: String)

    private var fleet: Fleet { killed.fleet }
    private var line: CaseTransition { moment.line }

    init(_ killed: Killed, _ moment: TransitionKillTests.Moment, _ outcome: TransitionKillTests.CommitOutcome) {
        (self.killed, self.moment, self.outcome) = (killed, moment, outcome)
        numbers = killed.newNumbers()
    }

    func run() async throws {
        let owner = try await killed.signIn(numbers.owner)
        let (challenge, code) = try await killed.code(for: numbers.claimant, "recovery")
        let request = RequestRecovery(
            accountPhone: numbers.owner, challengeId: challenge, code: code,
            device: DeviceClaim(name: "Pixel 9", platform: "android"))
        if ["requested", "recovery_begun"].contains(moment.act) {
            let killed = killed
            try await killed.kill(moment, outcome) { _ = try await killed.ask(request) }
        } else {
            let claim = try await killed.ask(request)
            try await quiet()
            try await lead(claim.recoveryId)
            try await makeTransition(claim, owner)
        }
        try await quiet()
        let id = try await fleet.sql("SELECT id FROM recovery.cases WHERE account_id = '\(owner.user.id)'")
        try await check(id, owner)
        try await fleet.sql("DELETE FROM recovery.outbox WHERE destination LIKE 'timer:%'")
    }

    /// Puts the case where the transition begins.
    private func lead(_ id: Identifier) async throws {
        var changes = ["verdict = 'yes'", "expires_at = now() + interval '14 days'"]
        let shadow: CaseStatus =
            switch line.event {
            case .holdEnded, .withdrawn: .held
            case .evidenceGiven, .neglected: .identityRequired
            default: .inReview
            }
        if line.from == .contested {
            changes += ["contested_at = now()", "first_approval = 'another'", "shadow = '\(shadow.rawValue)'"]
        }
        if line.from == .contested, line.event == .partlyApproved { changes.append("first_approval = NULL") }
        if line.from == .inReview, line.event == .partlyApproved { changes.append("is_of_staff = true") }
        if line.event == .contested { changes.append("proof = 'device'") }
        // Decisions upon nothing are as late as the ones before them, and none may come while a life is looked at.
        if line.from.place >= CaseStatus.inReview.place {
            changes.append("evidence_at = now() - interval '1 day'")
        }
        let from = line.from == .completing ? .approved : line.from
        changes.append("status = '\(from.rawValue)'")
        // If a column is set twice, the last value is used.
        let unique = Dictionary(changes.map { ($0.prefix { $0 != " " }, $0) }) { $1 }.values
        try await fleet.sql("UPDATE recovery.cases SET \(unique.joined(separator: ", ")) WHERE id = '\(id)'")
        try await fleet.sql("UPDATE auth.freezes SET hold_until = now() WHERE case_id = '\(id)'")
    }

    private func makeTransition(_ claim: RecoveryRequested, _ owner: Session) async throws {
        let (id, token, killed, line) = (claim.recoveryId, claim.recoveryToken, killed, line)
        switch line.event {
        case .holdEnded, .neglected:
            let column = line.event == .holdEnded ? "hold_until" : "expires_at"
            let fire = """
                UPDATE recovery.cases SET \(column) = now() WHERE id = '\(id)';
                UPDATE recovery.outbox SET due_at = now(),
                    destination = 'timer:\(line.event == .holdEnded ? "hold-ended" : "neglected")'
                WHERE destination = 'timer:hold-ended'
                """
            try await killed.kill(moment, outcome) { try await killed.fleet.sql(fire) }
            let acts = "SELECT count(*) FROM recovery.audit WHERE chain = 'case \(id)' AND act = '\(moment.act)'"
            try await fleet.wait(until: acts, is: "1")
        case .evidenceGiven:
            let evidence = SubmitEvidence(recoveryId: id, recoveryToken: token, verificationId: "ver-1")
            try await killed.kill(moment, outcome) { _ = try await killed.ask(evidence) }
        case .ownerEvidenceGiven:
            let evidence = SubmitOwnerEvidence(recoveryId: id, verificationId: "mine-1")
            try await killed.kill(moment, outcome) { _ = try await killed.ask(evidence, as: owner) }
        case .withdrawn:
            let cancel = CancelRecovery(recoveryId: id, recoveryToken: token)
            try await killed.kill(moment, outcome) { _ = try await killed.ask(cancel) }
        case .disputed, .contested:
            try await killed.kill(moment, outcome) {
                _ = try await killed.ask(DisputeRecovery(recoveryId: id), as: owner)
            }
        case .partlyApproved, .approved, .rejected:
            let staff = try await killed.staff()
            _ = try await killed.ask(ClaimReview(recoveryId: id), as: staff, role: .staff)
            try await killed.kill(moment, outcome) {
                if line.event == .rejected {
                    _ = try await killed.ask(RejectCase(recoveryId: id, note: "No."), as: staff, role: .staff)
                } else {
                    _ = try await killed.ask(ApproveCase(recoveryId: id, note: "Yes."), as: staff, role: .staff)
                }
            }
        case .completionBegun, .completed, .completionRefused:
            try await complete(claim)
        case .voided:
            try await fleet.sql("UPDATE auth.freezes SET until = now() WHERE case_id = '\(id)'")
            try await complete(claim)
        }
    }

    private func complete(_ claim: RecoveryRequested) async throws {
        let (challenge, right) = try await killed.code(for: numbers.claimant, "recovery")
        let wrong = right == "000000" ? "000001" : "000000"
        let request = CompleteRecovery(
            recoveryId: claim.recoveryId, recoveryToken: claim.recoveryToken, challengeId: challenge,
            code: line.event == .completionRefused ? wrong : right,
            device: DeviceClaim(secret: claim.deviceSecret, name: "Pixel 9", platform: "android"))
        let killed = killed
        let answers = ["otp_invalid", "recovery_closed", "idempotency_answer_gone"]
        try await killed.kill(moment, outcome) {
            do {
                _ = try await killed.ask(request)
            } catch let error as BusError where answers.contains(error.code) {
                // Refused, or done and its reply was lost.
            }
        }
    }

    /// Waits until the outboxes hold only timers that are not due, and items for verification, which does not run here.
    private func quiet() async throws {
        // One statement reads both outboxes: an item that one service sends to the other is always in at least one of
        // them.
        let left = [ServiceName.auth, .recovery].map {
            """
            (SELECT count(*) FROM \($0).outbox
            WHERE destination <> 'verification' AND (destination NOT LIKE 'timer:%' OR due_at <= now()))
            """
        }
        try await fleet.wait(until: "SELECT \(left.joined(separator: " + "))", is: "0")
    }

    // MARK: What must hold

    private func check(_ id: String, _ owner: Session) async throws {
        let end = line.event == .completionBegun ? CaseStatus.completed : line.to
        let what = Comment(rawValue: "\(moment), \(outcome)")
        try await fleet.wait(until: "SELECT status FROM recovery.cases WHERE id = '\(id)'", is: end.rawValue)
        let isOver = "SELECT closed_at IS NOT NULL FROM recovery.cases WHERE id = '\(id)'"
        #expect(try await fleet.sql(isOver) == (end.isClosed ? "t" : "f"), what)

        let acts = try await fleet.sql(
            "SELECT string_agg(act, ' ' ORDER BY sequence) FROM recovery.audit WHERE chain = 'case \(id)'")
        #expect(trails().contains(acts), "\(what): \(acts)")

        // Auth froze for it once, lifts that once, and moved the account once or not at all.
        let freeze = """
            SELECT applied_at IS NOT NULL, ended_at IS NOT NULL FROM auth.freezes WHERE case_id = '\(id)'
            """
        let isMoved = end == .completed
        #expect(try await fleet.sql(freeze) == "\(isMoved ? "t" : "f")|\(end.isClosed && !isMoved ? "t" : "f")", what)
        let done = """
            SELECT string_agg(act, ' ' ORDER BY sequence) FROM auth.audit WHERE details::jsonb ->> 'case' = '\(id)'
            """
        let expected =
            ["recovery_begun"] + (isMoved ? ["account_recovered"] : []) + (end.isClosed ? ["recovery_ended"] : [])
        #expect(try await fleet.sql(done) == expected.joined(separator: " "), what)
        let bars =
            "SELECT count(*) FROM recovery.bars b JOIN recovery.cases c USING (account_reference, claimant_reference)"
        #expect(
            try await fleet.sql("\(bars) WHERE c.id = '\(id)'") == (line.effects.contains(.claimantBarred) ? "1" : "0"),
            what)

        // What the owner's device was told of it, in order.
        var kinds = ["recovery_requested"]
        if line.effects.contains(.ownerTold) { kinds.append("recovery_\(line.to.rawValue)") }
        let notices = "SELECT string_agg(kind, ' ' ORDER BY at) FROM recovery.notices WHERE case_id = '\(id)'"
        #expect(try await fleet.sql(notices) == kinds.joined(separator: " "), what)
        if isMoved { kinds.append("recovery_completed") }
        #expect(pushes() == kinds, what)
    }

    /// What may stand in the trail: each act once. Only a refused attempt is another one when it is repeated.
    private func trails() -> [String] {
        let first = "requested"
        switch line.event {
        case .evidenceGiven: return ["\(first) evidence_given evidence_judged"]
        case .completionBegun, .completed: return ["\(first) completion_begun completed"]
        case .voided: return ["\(first) completion_begun voided"]
        case .completionRefused:
            let attempt = "completion_begun completion_refused"
            return ["\(first) \(attempt)", "\(first) \(attempt) \(attempt)"]
        default:
            return ["requested", "recovery_begun"].contains(moment.act) ? [first] : ["\(first) \(line.event.rawValue)"]
        }
    }

    private func pushes() -> [String] {
        let text = (try? String(contentsOfFile: "\(fleet.installation.state.spool)/push.jsonl", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONValue.parse(Array($0.utf8)) }
            .filter { $0["pushToken"] == .string("push-of-\(numbers.owner)") }
            .compactMap { $0["data"]?["kind"]?.stringValue }
    }
}
