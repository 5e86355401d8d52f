import BusProtocol
import BusRuntime
import Database
import EventLoop

struct VisualPreferencesReadyHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: VisualPreferencesReady, context: RequestContext) async throws -> Acknowledged {
        try await profile.take(event, from: .visualPreference) {
            ($0.visualPreferences, $0.visualDeferredAt) = (.ready, nil)
        }
    }
}

struct VisualPreferencesDeferredHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: VisualPreferencesDeferred, context: RequestContext) async throws -> Acknowledged {
        try await profile.take(event, from: .visualPreference) {
            // A deferral does not undo `ready`.
            guard $0.visualPreferences != .ready else { return }
            ($0.visualPreferences, $0.visualDeferredAt) = (.deferred, event.at)
        }
    }
}

struct VerificationDecidedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: VerificationDecided, context: RequestContext) async throws -> Acknowledged {
        try await profile.take(event, from: .verification) { record in
            guard let verification = Onboarding.Verification(rawValue: event.outcome) else { return }
            guard let task = Plan.Task.verifying[event.level] else { return }
            // A verified person stays verified after declining a later verification session.
            guard verification != .declined || record[verdictOf: task] != .verified else { return }
            record[verdictOf: task] = verification
        }
    }
}

extension ProfileContext {
    /// Applies an event of another service to a person's profile once, and stores the onboarding progress that follows.
    @Loop func take(
        _ event: some BusEvent, from producer: ServiceName, _ change: (inout ProfileRecord) -> Void
    ) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: producer, in: transaction) else { return }
            let record = try await locked(event.personID, in: transaction)
            var changed = record
            change(&changed)
            guard changed != record else { return }
            store.noteExternalEvents(of: changed, in: transaction)
            noteProgress(from: record, to: changed, try await plans(of: record), in: transaction)
        }
        return Acknowledged()
    }
}
