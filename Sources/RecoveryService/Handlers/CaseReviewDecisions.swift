import BusProtocol
import Database
import EventLoop

/// A case for its reviewers, locked until the transaction ends.
struct ReviewedCase: Sendable {
    let record: RecoveryCase
    let policy: CaseReviewPolicy
}

/// Applies the decisions of reviewers to cases.
struct CaseReviewDecisions: Sendable {
    let cases: CaseWorkflow
    let reviews: CaseReviewStore

    /// - Throws: ``BusError`` `not_found`, or `forbidden` if the reviewer owns the account.
    @Loop func locked(
        _ id: Identifier, for reviewer: CaseReviewer, in transaction: Transaction
    ) async throws -> ReviewedCase {
        guard let record = try await CaseStore.locked(id, in: transaction), !record.life.isDecoy,
            let (summary, firstApproval, firstApprovalKey) = try await reviews.review(of: id, in: transaction)
        else { throw CaseWorkflow.unknown }
        guard reviewer.person == nil || reviewer.person != record.accountID else { throw CaseReviewError.own }
        return ReviewedCase(
            record: record,
            policy: CaseReviewPolicy(
                reviewer: summary.reviewer, firstApproval: firstApproval, firstApprovalKey: firstApprovalKey,
                needsTwo: summary.approvalsNeeded == 2, verdict: summary.verdict,
                isEarly: record.decidedFrom.map { record.now < $0 } ?? false))
    }

    @Loop func summary(of id: Identifier, in transaction: Transaction) async throws -> ReviewSummary {
        guard let review = try await reviews.review(of: id, in: transaction) else { throw CaseWorkflow.unknown }
        return review.summary
    }

    /// Applies a decision, with its audit act, note and notices.
    @Loop func decide(
        _ id: Identifier, isApproved: Bool, note: String, by reviewer: CaseReviewer, in transaction: Transaction
    ) async throws -> ReviewSummary {
        let reviewed = try await locked(id, for: reviewer, in: transaction)
        let event: CaseEvent
        if reviewed.record.life.status == .inReview || reviewed.record.life.status == .contested {
            do throws(CaseReviewPolicy.Refusal) {
                try reviewed.policy.mayDecide(reviewer.name, key: reviewer.key)
                event = isApproved ? try reviewed.policy.approval(by: reviewer.name, key: reviewer.key) : .rejected
            } catch {
                throw CaseReviewError.refusal(error)
            }
        } else {
            event = isApproved ? .approved : .rejected
        }
        let step = try await cases.apply(
            event, by: .reviewer, to: reviewed.record, details: ["reviewer": reviewer.name], in: transaction)
        switch step {
        case .refused(let refusal): throw CaseReviewError.refusal(refusal)
        case .alreadyDone: break
        case .moves:
            reviews.keep(
                event, isFinal: event != .partlyApproved, by: reviewer, note: note, of: id, in: transaction)
        }
        return try await summary(of: id, in: transaction)
    }
}

/// The error for a decision that is refused.
enum CaseReviewError {
    static var own: BusError { BusError(.forbidden, "Somebody else must review a recovery of your own account.") }

    static func refusal(_ refusal: CaseRefusal) -> BusError {
        refusal == .tooEarly
            ? BusError(.recoveryNotReady, "This recovery is not ready for a decision yet.")
            : BusError(.recoveryClosed, "This recovery is over and cannot be decided any more.")
    }

    static func refusal(_ refusal: CaseReviewPolicy.Refusal) -> BusError {
        switch refusal {
        case .claimedByAnother: BusError(.reviewClaimed, "Another reviewer has this recovery now.")
        case .notClaimed: BusError(.reviewNotClaimed, "Please take this recovery before you decide.")
        case .noEvidence:
            BusError(.recoveryNotReady, "The evidence was not judged yet, or it speaks against the claimant.")
        case .sameReviewer: BusError(.forbidden, "Another reviewer must approve this recovery, too.")
        case .tooEarly: Self.refusal(CaseRefusal.tooEarly)
        }
    }
}
