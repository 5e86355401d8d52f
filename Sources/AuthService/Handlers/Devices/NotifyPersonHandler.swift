import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Notifies a person on behalf of another service.
struct NotifyPersonHandler: RequestHandler {
    let database: Database
    let notifier: PersonNotifier

    func handle(_ event: NotifyPerson, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            // Recovery and profile number the events of a person independently.
            guard try await EventPosition.accept(event, from: context.caller, in: transaction) else { return }
            let kind = NoticeKind(rawValue: event.kind)
            try await notifier.notify(
                event.personID, kind, event.data, notification: event.notificationID, in: transaction)
            if kind == .recoveryRequested, let cases = event.data["recoveryIds"] ?? event.data["recoveryId"] {
                let ids = cases.split(separator: " ").compactMap { Identifier(String($0)) }
                UnnotifiedClaims.told(ids, of: event.personID, in: transaction)
            }
            if let claimants = event.smsUnlessHeldBy {
                try await notifier.notifyHolder(
                    of: event.personID, kind, event.data, unlessHeldBy: claimants, in: transaction)
            }
        }
        return Acknowledged()
    }
}
