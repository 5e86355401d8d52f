import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct ViewOnboardingHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: ViewOnboarding, context: RequestContext) async throws -> OnboardingView {
        let record = try await profile.store.ensured(context.person().userID)
        return Onboarding.view(of: record, profile.policy, today: profile.today)
    }
}

struct GetOnboardingHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetOnboarding, context: RequestContext) async throws -> OnboardingState {
        let record = try await profile.store.ensured(request.personID)
        return OnboardingState(
            onboardingStatus: Onboarding.view(of: record, profile.policy, today: profile.today).onboardingStatus)
    }
}

struct AccountCreatedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: AccountCreated, context: RequestContext) async throws -> Acknowledged {
        try await profile.house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            transaction.send(
                "INSERT INTO profiles (person_id) VALUES ($1) ON CONFLICT DO NOTHING", [.uuid(event.personID)])
        }
        return Acknowledged()
    }
}

struct SessionCompletedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
        try await profile.house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction) else { return }
            transaction.send(Self.complete, [.uuid(event.personID), .timestamp(event.completedAt)])
        }
        return Acknowledged()
    }

    private static let complete: Statement = """
        INSERT INTO profiles AS p (person_id, questionnaire_completed_at) VALUES ($1, $2)
        ON CONFLICT (person_id) DO UPDATE
            SET questionnaire_completed_at = coalesce(p.questionnaire_completed_at, excluded.questionnaire_completed_at),
                revision = p.revision + 1, updated_at = clock_timestamp()
        """
}
