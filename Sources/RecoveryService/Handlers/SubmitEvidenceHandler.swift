import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Takes the claimant's evidence. For a decoy and for a disputed case, it discards the evidence unread. The claimant of
/// such a case waits as long as a real decision takes.
struct SubmitEvidenceHandler: RequestHandler {
    let database: Database
    let cases: CaseWorkflow
    let reviews: CaseReviewStore

    func handle(_ request: SubmitEvidence, context: RequestContext) async throws -> EvidenceTaken {
        let given = try Self.oneOf(request.verificationId, request.evidenceReference)
        try await database.transaction { transaction in
            let record = try await CaseStore.locked(request.recoveryId, in: transaction)
            guard let record, cases.isClaimant(request.recoveryToken, of: record) else {
                throw CaseWorkflow.notTheClaimant
            }
            switch try await cases.apply(.evidenceGiven, by: .claimant, to: record, in: transaction) {
            case .moves(let life, _):
                if !life.isDecidedByClock {
                    reviews.keepEvidence(given, of: record.id, in: transaction)
                    cases.outbox.enqueue(EvidenceJudge.destination, payload: record.id.array, in: transaction)
                }
            case .alreadyDone: return
            case .refused(.tooEarly):
                let left = max(1, ClaimantView.seconds(from: record.now, until: record.holdUntil))
                throw BusError(
                    .recoveryNotReady, "The hold is not over yet. Please come back later.", retryAfter: .seconds(left))
            case .refused: throw BusError(.recoveryClosed, "This recovery is over.")
            }
        }
        return EvidenceTaken(status: CaseStatus.inReview.rawValue)
    }

    static func oneOf(_ verificationID: String?, _ reference: String?) throws(BusError) -> String {
        let given = [verificationID, reference].compactMap { $0 }
        if given.count == 1 { return given[0] }
        throw BusError(
            .validationFailed, "Some members of the request are missing or wrong.",
            errors: [
                .init(
                    field: "verificationId", code: "not_allowed",
                    message: "Give either a verificationId or an evidenceReference.")
            ])
    }
}

/// Takes the owner's evidence in a contested case, for the reviewers.
struct SubmitOwnerEvidenceHandler: RequestHandler {
    let inbox: Inbox
    let cases: CaseWorkflow
    let reviews: CaseReviewStore

    func handle(_ request: SubmitOwnerEvidence, context: RequestContext) async throws -> EvidenceTaken {
        let person = try context.person().userID
        let given = try SubmitEvidenceHandler.oneOf(request.verificationId, request.evidenceReference)
        return try await inbox.once(context) { transaction in
            let record = try await CaseStore.locked(request.recoveryId, in: transaction)
            guard let record, record.accountID == person, !record.life.isDecoy else { throw CaseWorkflow.unknown }
            switch try await cases.apply(.ownerEvidenceGiven, by: .owner, to: record, in: transaction) {
            // This handler asks no provider, because a verdict on one side says nothing about the other.
            case .moves, .alreadyDone: reviews.keepOwnerEvidence(given, of: record.id, in: transaction)
            case .refused where !record.life.status.isClosed:
                throw BusError(.recoveryNotReady, "Nothing is asked of you. If this was not you, say no to it.")
            case .refused: throw BusError(.recoveryClosed, "This recovery is over.")
            }
            return .reply(EvidenceTaken(status: record.life.status.rawValue))
        }
    }
}
