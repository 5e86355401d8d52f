import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import RecoveryService

/// The service as it is, with a gateway that asks it and an auth that knows one account.
@Loop struct RecoveryStage {
    let stage: ServiceStage
    let gateway: Bus
    let owner: Identifier
    let auth: Auth
    let bearers = Bearers()
    let mover: Mover
    let staff = Identifier.random()
    let notified = EventRecorder<NotifyPerson>()
    let opened = EventRecorder<CaseOpened>()
    let closed = EventRecorder<CaseClosed>()
    let pictures = PictureKeeper()
    let codes = ClaimantCodes()

    nonisolated static let accountPhone = "+14155552671"
    /// A number that the account had until lately.
    nonisolated static let formerPhone = "+14155552672"
    nonisolated static let unknownPhone = "+14155550100"

    nonisolated static func run(
        hold: String = "72h", perPhone: Int = 100, perAddress: Int = 1000, replicas: Int = 1,
        _ body: @escaping @Loop @Sendable (RecoveryStage) async throws -> Void
    ) async throws {
        let environment = [
            "RECOVERY_IDENTITY_PROVIDER": "local", "RECOVERY_HOLD": hold, "RECOVERY_PER_PHONE": "\(perPhone)",
            "RECOVERY_PER_ADDRESS_DAY": "\(perAddress)",
        ]
        try await ServiceStage.run(RecoveryServiceDefinition.definition, replicas: replicas, environment: environment) {
            stage in
            let recovery = try RecoveryStage(stage)
            for peer in RecoveryServiceDefinition.definition.peers { try await stage.untilFound(peer) }
            try await body(recovery)
        }
    }

    private init(_ stage: ServiceStage) throws {
        self.stage = stage
        owner = .random()
        (auth, mover) = (Auth(owner: owner), Mover(owner: owner))
        try stage.answering(
            as: .auth, auth, bearers, mover, Checker(mover: mover), notified, opened, closed, codes,
            DeviceDescriber())
        try stage.answering(as: .profile, PersonDescriber())
        try stage.answering(as: .verification, pictures, pictures.list, pictures.ended)
        gateway = try stage.asking(as: .gateway)
    }

    /// Every code is right; the code tells who claims.
    @Loop final class Auth: RequestHandler {
        private let owner: Identifier
        /// What auth knows of the next claims of the account.
        var facts = Facts()

        struct Facts {
            var hasRecentSignIn = false
            var proof: String?
            var isStaff = false
            var isDormant = false
            /// References of the claimant's mailbox and proofs. Auth gives them with an account and without one.
            var mailbox: String?
            var proofs: [String]?
        }

        init(owner: Identifier) { self.owner = owner }

        func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
            let phone = request.accountPhone ?? ""
            let isKnown = [RecoveryStage.accountPhone, RecoveryStage.formerPhone].contains(phone)
            var begun = RecoveryStage.begun(
                case: request.caseID, phone: phone, claimant: request.code, owner: isKnown ? owner : nil)
            begun.platform = request.device.platform
            (begun.claimantMailbox, begun.claimantProofs) = (facts.mailbox, facts.proofs)
            guard isKnown else { return begun }
            (begun.hasRecentSignIn, begun.proof) = (facts.hasRecentSignIn, facts.proof)
            (begun.isStaff, begun.isDormant) = (facts.isStaff, facts.isDormant)
            return begun
        }
    }

    nonisolated static func begun(
        case id: Identifier, phone: String, claimant: String, owner: Identifier?
    ) -> RecoveryBegun {
        RecoveryBegun(
            caseID: id, accountID: owner, accountReference: "of \(phone)", claimantReference: "of \(claimant)",
            maskedClaimantPhone: "+46 (***) ***-4567")
    }

    func options(
        _ person: Identifier? = nil, role: Role = .user, key: String? = nil, at address: String = "192.0.2.7"
    ) -> CallOptions {
        var options = CallOptions(
            timeout: .seconds(10), actor: person.map { Actor(userID: $0, sessionID: .ordered(), role: role) },
            clientAddress: address, idempotencyKey: key)
        options.accessToken = options.actor.map { Bearers.token(of: $0) }
        return options
    }

    /// Moves the account, or refuses to.
    @Loop final class Mover: RequestHandler {
        private let owner: Identifier
        var refusal: BusError?
        private(set) var applied = 0
        /// What is said where it is asked.
        var isApplied = false

        init(owner: Identifier) { self.owner = owner }

        func handle(_ request: ApplyRecovery, context: RequestContext) async throws -> RecoveryMoved {
            if let refusal { throw refusal }
            applied += 1
            return RecoveryMoved(
                session: Session(
                    accessToken: "at", expiresInSeconds: 900, refreshToken: "rf", sessionId: .ordered(),
                    deviceId: .ordered(), isNewUser: false, user: .init(id: owner, onboardingStatus: nil)))
        }
    }

    private struct Checker: RequestHandler {
        let mover: Mover
        func handle(_ request: CheckRecovery, context: RequestContext) async throws -> RecoveryChecked {
            RecoveryChecked(isApplied: mover.isApplied)
        }
    }

    /// Stands in for auth when it checks a claimant's new code. It keeps the codes that it used up.
    @Loop final class ClaimantCodes: RequestHandler {
        private(set) var used: [CheckClaimant] = []
        /// When the codes were used up.
        var at: Timestamp?

        func handle(_ request: CheckClaimant, context: RequestContext) async throws -> ClaimantChecked {
            guard request.code != RecoveryStage.wrongCode else { throw BusError(.otpInvalid, "Code incorrect.") }
            used.append(request)
            return ClaimantChecked(at: at ?? .now())
        }
    }

    nonisolated static let wrongCode = "111111"

    func approve(_ claim: RecoveryRequested, as reviewer: Identifier? = nil) async throws {
        _ = try await ask(ClaimReview(recoveryId: claim.recoveryId), as: reviewer ?? staff)
        _ = try await ask(ApproveCase(recoveryId: claim.recoveryId, note: "Yes."), as: reviewer ?? staff)
    }

    func approvedClaim(claimant: String = "000001") async throws -> RecoveryRequested {
        let claim = try await claimInReview("yes", claimant: claimant)
        // Where a dispute came before, two must approve.
        try await stage.rows("UPDATE cases SET status = 'expired' WHERE status = 'disputed'")
        try await approve(claim)
        return claim
    }

    func complete(
        _ claim: RecoveryRequested, challenge: Identifier = .ordered(), key: String? = nil
    ) async throws -> Session {
        let request = CompleteRecovery(
            recoveryId: claim.recoveryId, recoveryToken: claim.recoveryToken, challengeId: challenge, code: "042917",
            device: DeviceClaim(secret: claim.deviceSecret, name: "Pixel 9", platform: "android"))
        return try await gateway.call(request, options(key: key))
    }

    /// Has timers fire as if their time had come.
    func fire(_ timer: String) async throws {
        let fired = try await stage.rows(
            "UPDATE outbox SET due_at = now() WHERE destination = '\(timer)' RETURNING quote_literal(id)")
        guard !fired.isEmpty else { return }
        // One that had to wait for its account too long is due again later; what is set anew has another id.
        let left = "SELECT count(*) FROM outbox WHERE id IN (\(fired.split(separator: "\n").joined(separator: ",")))"
        try #require(try await eventually { try await stage.rows(left) == "0" })
    }

    /// Every hold is over.
    func endHolds() async throws {
        try await stage.rows("UPDATE cases SET hold_until = now() WHERE hold_until > now()")
        try await fire(CaseWorkflow.holdTimer)
    }

    /// What nobody decides is decided, to the end of each.
    func decideDecoys() async throws {
        while try await areDecoysOpen() { try await fire(CaseWorkflow.decoyTimer) }
    }

    func areDecoysOpen() async throws -> Bool {
        let open = "coalesce(shadow, status) IN ('in_review', 'approved') AND (is_decoy OR closed_at IS NOT NULL)"
        return try await stage.rows("SELECT count(*) FROM cases WHERE \(open)") != "0"
    }

    // MARK: Reviews

    func ask<Request: BusRequest>(_ request: Request, as person: Identifier) async throws -> Request.Reply {
        try await patiently { try await gateway.call(request, options(person, role: .staff)) }
    }

    func page(of id: Identifier) async throws -> ReviewPage { try await ask(GetReview(recoveryId: id), as: staff) }

    /// - Returns: the status that is answered.
    func give(_ evidence: String, for claim: RecoveryRequested) async throws -> String {
        let request = SubmitEvidence(
            recoveryId: claim.recoveryId, recoveryToken: claim.recoveryToken, evidenceReference: evidence)
        return try await patiently { try await gateway.call(request, options()) }.status
    }

    func untilJudged(_ id: Identifier) async throws {
        let verdict = "SELECT count(verdict) FROM cases WHERE id = '\(id)'"
        try #require(try await eventually { try await stage.rows(verdict) != "0" })
    }

    /// A claim whose hold is over and whose evidence was judged.
    func claimInReview(_ evidence: String, claimant: String = "000001") async throws -> RecoveryRequested {
        let claim = try await claim(claimant: claimant)
        try await endHolds()
        _ = try await give(evidence, for: claim)
        try await untilJudged(claim.recoveryId)
        return claim
    }

    // MARK: What a claimant sees

    /// What a claimant is shown once the hold is over, up to the review.
    func beginning(of claim: RecoveryRequested, _ phone: String, by code: String) async throws -> [String] {
        [
            "after the hold: \(try await look(claim).status)", "again: \(await outcome(phone, code))",
            "evidence: \(try await give("no-1", for: claim))", "seen: \(try await look(claim).status)",
        ]
    }

    /// And from the decision on.
    func end(of claim: RecoveryRequested, _ phone: String, by code: String) async throws -> [String] {
        var seen = ["decided: \(try await look(claim).status)", "again: \(await outcome(phone, code))"]
        do {
            seen.append("cancel: \(try await cancel(claim).status)")
        } catch {
            seen.append("cancel: \((error as? BusError)?.code ?? "\(error)")")
        }
        return seen
    }

    /// What comes of asking again.
    private func outcome(_ phone: String, _ code: String) async -> String {
        do {
            return try await claim(phone, claimant: code).status
        } catch {
            return (error as? BusError)?.code ?? "\(error)"
        }
    }

    func reject(_ claim: RecoveryRequested) async throws {
        _ = try await ask(ClaimReview(recoveryId: claim.recoveryId), as: staff)
        _ = try await ask(RejectCase(recoveryId: claim.recoveryId, note: "No."), as: staff)
    }

    /// Makes all cases older by the time.
    func age(_ time: Duration) async throws {
        let interval = "interval '\(time.components.seconds) s'"
        try await stage.rows(
            """
            UPDATE cases SET created_at = created_at - \(interval), hold_until = hold_until - \(interval),
                expires_at = expires_at - \(interval)
            """)
    }

    func claim(
        _ phone: String = accountPhone, claimant: String = "000001", reason: String? = nil, key: String? = nil,
        at address: String = "192.0.2.7"
    ) async throws -> RecoveryRequested {
        let request = RequestRecovery(
            accountPhone: phone, challengeId: .ordered(), code: claimant,
            device: DeviceClaim(name: "Pixel 9", platform: "android"), reason: reason)
        return try await patiently { try await gateway.call(request, options(key: key, at: address)) }
    }

    func look(_ requested: RecoveryRequested) async throws -> RecoveryCaseView {
        let request = GetRecoveryCase(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken)
        return try await patiently { try await gateway.call(request, options()) }
    }

    func dispute(
        _ id: Identifier, token: String? = nil, as person: Identifier? = nil
    ) async throws -> RecoveryDisputed {
        let request = DisputeRecovery(recoveryId: id, disputeToken: token)
        return try await patiently { try await gateway.call(request, options(person)) }
    }

    func cancel(_ requested: RecoveryRequested) async throws -> RecoveryCancelled {
        let request = CancelRecovery(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken)
        return try await patiently { try await gateway.call(request, options()) }
    }

    /// Waits until a case stands so.
    func until(_ id: Identifier, is status: String) async throws {
        while try await stage.rows("SELECT status FROM cases WHERE id = '\(id)'") != status {
            try await Loop.sleep(for: .milliseconds(20))
        }
    }
}
