import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Tells a person what another service has to say.
struct NotifyPersonHandler: RequestHandler {
    let house: ServiceHouse
    let notifier: PersonNotifier

    func handle(_ event: NotifyPerson, context: RequestContext) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            // Recovery and profile count a person's events each for itself.
            guard try await EventPosition.accept(event, from: context.caller, in: transaction) else { return }
            try await notifier.tell(
                event.personID, event.kind, event.data, notification: event.notificationID, in: transaction)
        }
        return Acknowledged()
    }
}
