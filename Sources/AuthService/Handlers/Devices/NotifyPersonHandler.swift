import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Notifies a person on behalf of another service.
struct NotifyPersonHandler: RequestHandler {
    let database: Database
    let outbox: Outbox
    let secrets: Secrets
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
            if let claimants = event.smsUnlessHeldBy { try await sendSMS(event, claimants, in: transaction) }
        }
        return Acknowledged()
    }

    /// Sends an SMS to the account's number, unless it is a claimant's. A push reaches the holder of a device, and an
    /// SMS reaches the holder of the number.
    @Loop private func sendSMS(
        _ event: NotifyPerson, _ claimants: [String], in transaction: Transaction
    ) async throws {
        guard let sealed = try await PhoneStore.phone(of: event.personID, in: transaction) else { return }
        let number = try secrets.phoneSealer.open(sealed, associated: event.personID.array)
        guard !claimants.contains(secrets.reference(ofPhoneHash: secrets.hashes(of: number).lasting)) else { return }
        let message = ContactMessage(
            challengeID: nil, to: String(decoding: number, as: UTF8.self),
            body: NotificationText.sms(
                kind: NoticeKind(rawValue: event.kind), data: event.data, appName: notifier.appName
            ).text(in: try await DeviceStore.language(of: event.personID, in: transaction)))
        outbox.enqueue("sms", payload: try WireJSON.encode(message), in: transaction)
    }
}
