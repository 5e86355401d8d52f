import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

/// The real recovery service, with a stand-in for auth that knows one account.
@Loop final class RecoveryProvider: Provider {
    let stage: ServiceStage
    let owner: Identifier
    let notified = EventRecorder<NotifyPerson>()
    let bearers = Bearers()
    private var claimants = 0

    /// The number of the account that the stand-in knows.
    nonisolated static let accountPhone = "+14155552671"
    nonisolated static let invalidPhone = "+999"
    /// Codes that the stand-in refuses with these errors.
    nonisolated static let refusals = [
        "111111": Sample.otpInvalid, "222222": Sample.otpExpired, "333333": Sample.otpLocked,
        "444444": Sample.claimantHasAccount, "111112": Sample.identityTokenInvalid,
        "111113": Sample.identityProviderUnavailable, "111114": Sample.methodNotAvailable,
        "111115": Sample.accountNotNamed,
    ]

    private init(_ stage: ServiceStage) throws {
        (self.stage, owner) = (stage, .random())
        try stage.answering(
            as: .auth, Auth(owner: owner), bearers, Mover(owner: owner), Checker(), notified,
            EventRecorder<CaseOpened>(),
            EventRecorder<CaseClosed>(), ClaimantChecks(), DeviceDescriber())
        try stage.answering(as: .profile, PersonDescriber())
        let pictures = PictureKeeper()
        try stage.answering(as: .verification, pictures, pictures.list, pictures.ended)
    }

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (RecoveryProvider) async throws -> Void
    ) async throws {
        let environment = ["RECOVERY_IDENTITY_PROVIDER": "local"]
        try await ServiceStage.run(RecoveryServiceDefinition.definition, environment: environment) {
            try await body(try RecoveryProvider($0))
        }
    }

    /// Begins every recovery. The code identifies the claimant.
    private struct Auth: RequestHandler {
        let owner: Identifier

        func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
            if request.accountPhone == RecoveryProvider.invalidPhone { throw Sample.invalidPhone }
            if let refusal = RecoveryProvider.refusals[request.code] { throw refusal }
            return RecoveryProvider.begun(case: request.caseID, claimant: request.code, owner: owner)
        }
    }

    func accessToken(of actor: Actor) -> String? { Bearers.token(of: actor) }

    /// Moves every account.
    private struct Mover: RequestHandler {
        let owner: Identifier

        func handle(_ request: ApplyRecovery, context: RequestContext) async throws -> RecoveryMoved {
            if let refusal = RecoveryProvider.refusals[request.code] { throw refusal }
            var session = VerifyOTP.canonicalReply
            session.user.id = owner
            return RecoveryMoved(session: session)
        }
    }

    private struct Checker: RequestHandler {
        func handle(_ request: CheckRecovery, context: RequestContext) async throws -> RecoveryChecked {
            RecoveryChecked(isApplied: false)
        }
    }

    private struct ClaimantChecks: RequestHandler {
        func handle(_ request: CheckClaimant, context: RequestContext) async throws -> ClaimantChecked {
            if let refusal = RecoveryProvider.refusals[request.code] { throw refusal }
            return ClaimantChecked(at: .now())
        }
    }

    // MARK: Reviews

    /// A case that reviewers approved.
    func approvedCase() async throws -> RecoveryRequested {
        let held = try await heldCase().requested
        try await stage.rows(
            "UPDATE cases SET status = 'approved', expires_at = now() + interval '14 days' WHERE id = '\(held.recoveryId)'"
        )
        return held
    }

    func endHold(of id: Identifier) async throws {
        try await stage.rows("UPDATE cases SET hold_until = now() WHERE id = '\(id)'")
        try await stage.rows("UPDATE outbox SET due_at = now() WHERE destination = 'timer:hold-ended'")
        let status = "SELECT status FROM cases WHERE id = '\(id)'"
        try #require(try await eventually { try await stage.rows(status) != "held" })
    }

    /// A case that waits for reviewers, with a verdict on its evidence.
    func reviewCase(evidence: String = "yes-1") async throws -> Identifier {
        let held = try await heldCase().requested
        try await endHold(of: held.recoveryId)
        try await reply(
            to: Asked(
                SubmitEvidence(
                    recoveryId: held.recoveryId, recoveryToken: held.recoveryToken, verificationId: evidence)))
        let verdict = "SELECT count(verdict) FROM cases WHERE id = '\(held.recoveryId)'"
        try #require(try await eventually { try await stage.rows(verdict) != "0" })
        return held.recoveryId
    }

    /// A case that a reviewer has claimed.
    func claimedCase(evidence: String = "yes-1") async throws -> (id: Identifier, reviewer: Identifier) {
        let (id, reviewer) = (try await reviewCase(evidence: evidence), Identifier.random())
        try await reply(to: Asked(ClaimReview(recoveryId: id), for: reviewer, role: .staff))
        return (id, reviewer)
    }

    /// A case that its owner contested, because the claimant has given proof.
    func contestedCase() async throws -> Identifier {
        let id = try await heldCase().requested.recoveryId
        try await stage.rows(
            "UPDATE cases SET contested_at = NULL; UPDATE cases SET proof = 'device' WHERE id = '\(id)'")
        try await reply(to: Asked(DisputeRecovery(recoveryId: id), for: owner))
        return id
    }

    /// A case that is closed.
    func closedCase() async throws -> Identifier {
        let id = try await reviewCase()
        try await reply(to: Asked(DisputeRecovery(recoveryId: id), for: owner))
        return id
    }

    /// The same request by a reviewer who has a pseudonym already. A new reviewer would get one, even if the request is
    /// refused.
    func known<Message: BusRequest>(_ asked: Asked<Message>) async throws -> Asked<Message> {
        var release = Asked(ReleaseReview(recoveryId: .ordered()))
        release.options.actor = asked.options.actor
        _ = try? await reply(to: release)
        return asked
    }

    nonisolated static func begun(case id: Identifier, claimant: String, owner: Identifier) -> RecoveryBegun {
        RecoveryBegun(
            caseID: id, accountID: owner, accountReference: "reference-of-account",
            claimantReference: "reference-of-\(claimant)", maskedClaimantPhone: "+46 (***) ***-4567")
    }

    /// A code of a claimant without claims.
    func newCode() -> String {
        claimants += 1
        return String(400_000 + claimants)
    }

    /// A claim of the account by the claimant with this code.
    func claim(code: String, phone: String = accountPhone) -> Asked<RequestRecovery> {
        let request = RequestRecovery(
            accountPhone: phone, challengeId: .ordered(), code: code, device: Sample.phone,
            reason: "My phone was stolen.")
        return Asked(request, key: "key-\(Identifier.random())")
    }

    /// A held case, with the dispute token that its owner got.
    func heldCase() async throws -> (requested: RecoveryRequested, disputeToken: String) {
        // Recovery notifies the owner of the first three claims a day at once. It notifies of further claims later and
        // together.
        try await stage.rows("UPDATE cases SET created_at = created_at - interval '1 day'")
        let requested = try await reply(to: claim(code: newCode()))
        while true {
            let told = notified.heard.first { $0.data["recoveryId"] == requested.recoveryId.description }
            if let token = told?.data["disputeToken"] { return (requested, token) }
            _ = try await notified.atLeast(notified.heard.count + 1)
        }
    }
}
