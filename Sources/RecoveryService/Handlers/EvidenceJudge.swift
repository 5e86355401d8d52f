import BusProtocol
import Database
import EventLoop

/// Gets a verdict on evidence from its provider and stores it. The provider may be slow, so this runs from the outbox.
struct EvidenceJudge: Sendable {
    let database: Database
    let cases: CaseWorkflow
    let reviews: CaseReviewStore
    let provider: any IdentityEvidenceProvider

    static let destination = "evidence"

    @Loop func judge(_ item: OutboxItem) async throws {
        guard let id = Identifier(item.payload), let evidence = try await reviews.evidence(of: id) else { return }
        let verdict = try await provider.verdict(on: evidence)
        try await database.transaction { transaction in
            guard let record = try await CaseStore.locked(id, in: transaction), !record.life.status.isClosed else {
                return
            }
            reviews.keep(verdict, of: id, in: transaction)
            cases.note(
                "evidence_judged", by: .reviewer, record.life, of: record, ["verdict": verdict.rawValue],
                in: transaction)
        }
    }
}
