import BusProtocol
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// A push for one device. It is stored sealed in the outbox until it is sent or given up.
struct PushMessage: Codable, Sendable {
    var notificationID: Identifier
    var personID: Identifier
    var deviceID: Identifier
    /// The device's token when the push was written. So replacing the token does not stop a queued push. `nil` in
    /// pushes of the previous release.
    var token: String?
    /// The row of the token, if the device has replaced it before.
    var replacedTokenID: Identifier?
    var title: String
    var body: String
    var data: [String: String]
}

/// Sends pushes, and reports the result of each to recovery.
struct PushSender: Sendable {
    let database: Database
    let outbox: Outbox
    let log: Log
    let tokens: PushTokens
    let provider: any PushProvider

    /// The limit of one attempt. A service that stops waits for its attempts.
    private static let patience = Duration.milliseconds(4500)

    @Loop func send(_ item: OutboxItem) async throws {
        let push = try WireJSON.decode(PushMessage.self, from: item.payload)
        // The previous release wrote no token into the push, and the device has none any more: the push fails.
        guard let token = try await token(of: push) else { return try await publish(push, "failed") { _ in } }
        do {
            let outgoing = OutgoingPush(
                id: item.id, notificationID: push.notificationID, personID: push.personID, deviceID: push.deviceID,
                token: token, title: push.title, body: push.body, data: push.data)
            try await provider.send(outgoing, within: Self.patience)
        } catch {
            return try await fail(push, token, error, attempts: item.attempts)
        }
        try await publish(push, "delivered") { _ in }
    }

    @Loop private func token(of push: PushMessage) async throws -> String? {
        if let token = push.token { return token }
        return try await tokens.current(of: push.deviceID, in: database)
    }

    @Loop private func fail(_ push: PushMessage, _ token: String, _ error: PushError, attempts: Int) async throws {
        switch error {
        case .deadToken:
            log.info("push_token_expired", ["device": .string(push.deviceID.description)])
            try await publish(push, "failed") { transaction in
                try await tokens.expire(token, of: push, in: transaction)
            }
        case .notTaken(let reason, let retryAfter):
            guard attempts >= Outbox.mostAttempts else {
                throw DeliveryPostponed(
                    pause: PushPolicy.pause(afterAttempt: attempts, retryAfter: retryAfter), code: reason)
            }
            // The push is given up, and its text and token are erased.
            log.warning(
                "push_given_up",
                ["notification": .string(push.notificationID.description), "error": .string(reason)])
            try await publish(push, "failed") { _ in }
        }
    }

    @Loop private func publish(
        _ push: PushMessage, _ outcome: String, with effect: @Loop (Transaction) async throws -> Void
    ) async throws {
        try await database.transaction { transaction in
            try await effect(transaction)
            let told = NotificationDelivered(
                personID: push.personID, notificationID: push.notificationID, deviceID: push.deviceID,
                outcome: outcome, at: .now())
            try await outbox.publish(told, in: transaction)
        }
    }
}
