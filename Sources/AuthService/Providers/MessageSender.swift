import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// An SMS or an email to send. It is stored sealed in the outbox until it is sent or given up.
struct ContactMessage: Codable, Sendable {
    /// The challenge of the code in it; `nil` if it has no code.
    var challengeID: Identifier?
    var to: String
    /// Of an email; `nil` for an SMS.
    var subject: String?
    var body: String
}

/// Sends messages of one kind, SMS or emails, and keeps track of which providers work.
@Loop final class MessageSender {
    private let kind: Contact.Kind
    private let database: Database
    private let log: Log
    private let providers: [any MessageProvider]
    private let sent: BatchWriter
    /// The health of each provider, in the order of `providers`.
    private var health: [ProviderHealth]

    /// The limit of one attempt over all providers. A person waits, and the last provider must have its turn within 5
    /// s.
    private static let patience = Duration.milliseconds(4500)
    /// How long after the request a code is tried again before it is given up. The person waits at a screen, sees
    /// within twice this time that it failed, and may then ask for another code at once.
    private static let codePatience = Duration.seconds(5)

    init(_ kind: Contact.Kind, database: Database, log: Log, providers: [any MessageProvider]) {
        (self.kind, self.database, self.log, self.providers) = (kind, database, log, providers)
        health = providers.map { _ in ProviderHealth() }
        sent = BatchWriter(database, CodeStateStore.sent)
    }

    /// Whether the operator has set up no provider.
    var isOff: Bool { providers.isEmpty }

    /// Refuses a code while all providers are down.
    ///
    /// - Throws: ``BusError`` `sms_unavailable`, `email_unavailable`.
    func refuseWhileDown() throws(BusError) {
        let waits = health.compactMap { $0.downFor(at: MonotonicClock.now()) }
        guard waits.count == providers.count, let wait = waits.min() else { return }
        switch kind {
        case .phone: throw BusError(.smsUnavailable, "Unable to send SMS. Try again?", retryAfter: wait)
        case .email: throw BusError(.emailUnavailable, "Unable to send email. Try again?", retryAfter: wait)
        }
    }

    func send(_ item: OutboxItem) async throws {
        let message = try WireJSON.decode(ContactMessage.self, from: item.payload)
        let began = MonotonicClock.now()
        do {
            // The item's id is the same at each attempt. Only the caller who asked for a code knows its challenge.
            try await offer(OutgoingMessage(id: item.id, to: message.to, subject: message.subject, body: message.body))
            // Without this note the person only waits longer. Throwing here would send the message a second time.
            if let challenge = message.challengeID { _ = try? await sent.write([.uuid(challenge)]) }
        } catch {
            guard message.challengeID != nil || error == .unusableContact || item.attempts >= Outbox.mostAttempts else {
                // A notice is useful for hours, so it is tried again as long as a push.
                throw DeliveryPostponed(
                    pause: PushPolicy.pause(afterAttempt: item.attempts, retryAfter: nil),
                    code: "\(kind.destination)_not_taken")
            }
            let age = item.age + .nanoseconds(Int64(MonotonicClock.now() - began))
            let isOld = message.challengeID != nil && age >= Self.codePatience
            guard error == .unusableContact || isOld || item.attempts >= Outbox.mostAttempts else { throw error }
            // The message is given up, and its text and contact are erased. As a dead letter they would outlive the
            // person's account.
            log.warning(
                "\(kind.destination)_given_up",
                ["challenge": message.challengeID.map { .string($0.description) } ?? .null])
            if let challenge = message.challengeID { try await ChallengeStore.giveUp(challenge, in: database) }
        }
    }

    /// Tries one provider after the other. Each gets an equal share of the time that is left, so that a hanging one
    /// leaves enough for the next. A provider that hangs may still send the message. Then the person gets the same code
    /// twice.
    private func offer(_ message: OutgoingMessage) async throws(MessageError) {
        let end = MonotonicClock.now() + Self.patience.nanoseconds
        var waiting = providers.indices.filter { health[$0].downFor(at: MonotonicClock.now()) == nil }
        var lastError = MessageError.notTaken(host: nil, .noAnswer)
        // If all of them are down, try all of them.
        if waiting.isEmpty { waiting = Array(providers.indices) }
        while let index = waiting.first {
            let now = MonotonicClock.now()
            let share = Duration.nanoseconds(Int64(end > now ? end - now : 0)) / waiting.count
            waiting.removeFirst()
            if try await isTaken(message, by: index, within: share, &lastError) { return }
        }
        throw lastError
    }

    private func isTaken(
        _ message: OutgoingMessage, by index: Int, within share: Duration, _ lastError: inout MessageError
    ) async throws(MessageError) -> Bool {
        do {
            try await providers[index].send(message, within: share)
            health[index].noteSuccess()
            return true
        } catch {
            guard case .notTaken(let host, let failure) = error else {
                health[index].noteSuccess()
                throw error
            }
            if !failure.isAboutContact {
                health[index].noteFailure(isRefused: failure.isRefused, at: MonotonicClock.now())
            }
            log.warning(
                "\(kind.destination)_not_taken",
                [
                    "provider": .string(providers[index].name), "host": host.map { .string($0) } ?? .null,
                    "error": .string(failure.reason),
                ])
            lastError = error
            return false
        }
    }
}
