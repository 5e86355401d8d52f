import BusProtocol
import BusRuntime
import EventLoop

/// Takes the claimant's evidence. Of a decoy, and of a case that was disputed, it is destroyed unread; both wait for as long as
/// a decision takes.
struct SubmitEvidenceHandler: RequestHandler {
    let store: CaseStore
    let reviews: ReviewStore

    func handle(_ request: SubmitEvidence, context: RequestContext) async throws -> EvidenceTaken {
        let given = [request.verificationId, request.evidenceReference].compactMap { $0 }
        guard given.count == 1 else { throw Self.oneOfTwo }
        try await store.house.database.transaction { transaction in
            let record = try await store.locked(request.recoveryId, in: transaction)
            guard let record, store.isClaimant(request.recoveryToken, of: record) else {
                throw CaseStore.notTheClaimant
            }
            switch try await store.happen(.evidenceGiven, by: .claimant, to: record, in: transaction) {
            case .moves(let life, _):
                if !life.isDecidedByClock { reviews.take(given[0], of: record, in: transaction) }
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

    private static let oneOfTwo = BusError(
        .validationFailed, "Some members of the request are missing or wrong.",
        errors: [
            .init(
                field: "verificationId", code: "not_allowed",
                message: "Give either a verificationId or an evidenceReference.")
        ])
}
