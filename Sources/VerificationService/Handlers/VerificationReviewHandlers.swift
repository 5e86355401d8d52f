import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct ListVerificationReviewsHandler: RequestHandler {
    let store: VerificationStore

    func handle(
        _ request: ListVerificationReviews, context: RequestContext
    ) async throws -> VerificationReviewQueue {
        _ = try context.staff()
        return VerificationReviewQueue(reviews: try await store.queue().compactMap { VerificationReview($0) })
    }
}

/// Shows a verification to a reviewer, and records that they saw it.
struct GetVerificationReviewHandler: RequestHandler {
    let workflow: VerificationWorkflow
    let bearers: BearerReader

    func handle(_ request: GetVerificationReview, context: RequestContext) async throws -> VerificationReview {
        let staff = try context.staff()
        _ = try await bearers.bearer(of: context)
        guard let known = try await workflow.store.verification(of: request.sessionId),
            known.verification.status == .manualReview, var review = VerificationReview(known)
        else { throw VerificationWorkflow.unknown }
        guard known.person != staff.userID else { throw VerificationReviewRefusal.own }
        let act = AuditAct("capture_seen", ["session": request.sessionId.description])
        try await workflow.audit.noteLook(act, by: staff.userID, in: workflow.store.database)
        let now = Timestamp.now()
        review.captureUrl = known.verification.media.map { workflow.photos.url(forOneLookAt: $0, at: now) }
        review.backUrl = known.verification.back.map { workflow.photos.url(forOneLookAt: $0, at: now) }
        return review
    }
}

struct DecideVerificationHandler: RequestHandler {
    let reviewing: VerificationReviewDecisions

    func handle(_ request: DecideVerification, context: RequestContext) async throws -> NoContent {
        try await reviewing.decide(request.sessionId, .photo, request.verdict, context)
    }
}

struct DecideDocumentHandler: RequestHandler {
    let reviewing: VerificationReviewDecisions

    func handle(_ request: DecideDocument, context: RequestContext) async throws -> NoContent {
        try await reviewing.decide(request.sessionId, .id, request.verdict, context)
    }
}

/// Stores the decisions of reviewers. Each tier has its own message for a decision.
@Loop struct VerificationReviewDecisions {
    let inbox: Inbox
    let workflow: VerificationWorkflow
    let bearers: BearerReader

    func decide(
        _ session: Identifier, _ tier: Tier, _ word: String, _ context: RequestContext
    ) async throws -> NoContent {
        let staff = try context.staff()
        _ = try await bearers.bearer(of: context)
        guard let verdict = Verdict(rawValue: word),
            let found = try await workflow.store.verification(of: session), found.verification.tier == tier
        else { throw VerificationWorkflow.unknown }
        guard found.person != staff.userID else { throw VerificationReviewRefusal.own }
        if try await !inbox.refuseReuse(context.inboxRequest), found.verification.status != .manualReview {
            throw VerificationWorkflow.over
        }
        let reviewer = try await workflow.store.database.transaction {
            try await workflow.audit.chain(ofReviewer: staff.userID, in: $0)
        }
        return try await inbox.once(context) { transaction in
            let known = try await workflow.store.locked(found.person, tier, in: transaction)
            try await workflow.apply(.reviewed(session, verdict), to: known, in: transaction)
            let details = ["session": session.description, "verdict": verdict.rawValue]
            workflow.audit.note(AuditAct("verification_reviewed", details), on: reviewer, in: transaction)
            return .reply(NoContent())
        }
    }
}

extension VerificationReview {
    fileprivate init?(_ known: VerificationStore.Known) {
        let verification = known.verification
        guard let session = verification.session, let since = verification.since, let due = verification.dueAt else {
            return nil
        }
        self.init(
            sessionId: session, completedAt: since, decideBefore: due, attempts: Int64(verification.tries),
            tier: verification.tier.rawValue)
    }
}

private enum VerificationReviewRefusal {
    static let own = BusError(.forbidden, "Somebody else must review your own verification.")
}
