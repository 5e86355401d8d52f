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
        return VerificationReviewQueue(reviews: try await store.queue())
    }
}

/// Shows a verification to a reviewer, and notes that they saw it.
struct GetVerificationReviewHandler: RequestHandler {
    let workflow: VerificationWorkflow
    let bearers: BearerReader

    func handle(_ request: GetVerificationReview, context: RequestContext) async throws -> VerificationReview {
        let staff = try context.staff()
        _ = try await bearers.bearer(of: context)
        guard let found = try await workflow.store.review(of: request.sessionId) else {
            throw VerificationWorkflow.unknown
        }
        guard found.known.person != staff.userID else { throw ReviewRefusal.own }
        try await workflow.store.database.transaction { transaction in
            let chain = try await workflow.audit.chain(ofReviewer: staff.userID, in: transaction)
            let act = AuditAct("capture_seen", ["session": request.sessionId.description])
            guard try await !workflow.audit.isLast(act, on: chain, in: transaction) else { return }
            workflow.audit.note(act, on: chain, in: transaction)
        }
        var review = found.review
        review.captureUrl = found.known.verification.media.map { workflow.photos.url(forOneLookAt: $0, at: .now()) }
        return review
    }
}

struct DecideVerificationHandler: RequestHandler {
    let inbox: Inbox
    let workflow: VerificationWorkflow
    let bearers: BearerReader

    func handle(_ request: DecideVerification, context: RequestContext) async throws -> NoContent {
        let staff = try context.staff()
        _ = try await bearers.bearer(of: context)
        guard let verdict = Verdict(rawValue: request.verdict),
            let person = try await workflow.store.person(of: request.sessionId)
        else { throw VerificationWorkflow.unknown }
        guard person != staff.userID else { throw ReviewRefusal.own }
        if try await !inbox.refuseReuse(context.inboxRequest) {
            guard try await workflow.store.review(of: request.sessionId) != nil else {
                throw VerificationWorkflow.over
            }
        }
        let reviewer = try await workflow.store.database.transaction {
            try await workflow.audit.chain(ofReviewer: staff.userID, in: $0)
        }
        return try await inbox.once(context) { transaction in
            let known = try await workflow.store.locked(person, in: transaction)
            try await workflow.apply(.reviewed(request.sessionId, verdict), to: known, in: transaction)
            let details = ["session": request.sessionId.description, "verdict": verdict.rawValue]
            workflow.audit.note(AuditAct("verification_reviewed", details), on: reviewer, in: transaction)
            return .reply(NoContent())
        }
    }
}

private enum ReviewRefusal {
    static let own = BusError(.forbidden, "Somebody else must review your own verification.")
}
