import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct ListPhotoReviewsHandler: RequestHandler {
    let photos: PhotoStore

    func handle(_ request: ListPhotoReviews, context: RequestContext) async throws -> PhotoReviewQueue {
        _ = try context.staff()
        return PhotoReviewQueue(photos: try await photos.queue())
    }
}

/// Shows a photo to a reviewer, and records that they saw it.
struct GetPhotoReviewHandler: RequestHandler {
    let workflow: PhotoWorkflow
    let bearers: BearerReader

    func handle(_ request: GetPhotoReview, context: RequestContext) async throws -> PhotoReview {
        let staff = try context.staff()
        _ = try await bearers.bearer(of: context)
        guard let found = try await workflow.photos.review(of: request.mediaId) else {
            throw PhotoReviewRefusal.unknown
        }
        guard found.owner != staff.userID else { throw PhotoReviewRefusal.own }
        let act = AuditAct("photo_seen", ["media": request.mediaId.description])
        try await workflow.audit.noteLook(act, by: staff.userID, in: workflow.photos.media.database)
        var review = found.review
        review.photoUrl = workflow.photos.url(forOneLookAt: request.mediaId, at: .now())
        return review
    }
}

struct DecidePhotoHandler: RequestHandler {
    let inbox: Inbox
    let workflow: PhotoWorkflow
    let bearers: BearerReader

    func handle(_ request: DecidePhoto, context: RequestContext) async throws -> NoContent {
        let staff = try context.staff()
        _ = try await bearers.bearer(of: context)
        guard let verdict = Moderation(rawValue: request.verdict), verdict != .pending,
            let owner = try await workflow.photos.owner(of: request.mediaId)
        else { throw PhotoReviewRefusal.unknown }
        guard owner != staff.userID else { throw PhotoReviewRefusal.own }
        let reviewer = try await workflow.photos.media.database.transaction {
            try await workflow.audit.chain(ofReviewer: staff.userID, in: $0)
        }
        return try await inbox.once(context) { transaction in
            guard try await workflow.decide(request.mediaId, verdict, of: owner, in: transaction) else {
                throw PhotoReviewRefusal.unknown
            }
            let details = ["media": request.mediaId.description, "verdict": verdict.rawValue]
            workflow.audit.note(AuditAct("photo_reviewed", details), on: reviewer, in: transaction)
            return .reply(NoContent())
        }
    }
}

private enum PhotoReviewRefusal {
    static let unknown = BusError(.notFound, "No such photo waits for a reviewer.")
    static let own = BusError(.forbidden, "Somebody else must review your own photo.")
}
