import BusProtocol
import BusRuntime
import Database
import EventLoop

struct BackfillOnboardingHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: BackfillOnboarding, context: RequestContext) async throws -> OnboardingBackfilled {
        try await profile.inbox.once(context) { transaction in
            let (backfilled, done) = try await BackfillStore.complete(request.userIDs, in: transaction)
            for record in try await profile.store.known(done, in: transaction) where !record.plans.isEmpty {
                var former = record
                former.isBackfilled = false
                let plans = try await profile.plans(of: record)
                for news in profile.progress(from: former, to: record, plans) {
                    PlanProgressStore.note(news, of: record.personID, in: transaction)
                }
            }
            if backfilled.done > 0 {
                // The whole call is one entry in the audit trail. It names no person.
                profile.audit.note(
                    AuditAct("onboarding_backfilled", ["people": "\(backfilled.done)"]), on: .service, in: transaction)
            }
            return .reply(backfilled)
        }
    }
}
