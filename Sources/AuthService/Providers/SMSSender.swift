import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// What an SMS needs to be sent; it stands sealed in the outbox until it is sent or given up.
struct SMSMessage: Codable, Sendable {
    var challengeID: Identifier
    var to: String
    var body: String
}

/// Sends the SMS of challenges, and knows whether that works.
@Loop final class SMSSender {
    private let house: ServiceHouse
    private let spool: SpoolProvider
    private var health = ProviderHealth()

    init(house: ServiceHouse, spool: SpoolProvider) { (self.house, self.spool) = (house, spool) }

    /// Refuses to promise a code while no provider takes one.
    func refuseWhileDown() throws(BusError) {
        guard let wait = health.downFor(at: MonotonicClock.now()) else { return }
        throw BusError(.smsUnavailable, "Unable to send SMS. Try again?", retryAfter: wait)
    }

    func send(_ item: OutboxItem) async throws {
        let sms = try WireJSON.decode(SMSMessage.self, from: item.payload)
        do {
            try await spool.append(
                "sms.jsonl",
                [
                    "id": .string(item.id.description), "to": .string(sms.to), "body": .string(sms.body),
                    "at": .string(Timestamp.now().description),
                ])
            health.noteSuccess()
        } catch {
            health.noteFailure(at: MonotonicClock.now())
            guard item.attempts >= Outbox.mostAttempts else { throw error }
            // Given up, and its text erased with it: a code that is minutes old is of no use to anybody.
            house.log.warning("sms_given_up", ["challenge": .string(sms.challengeID.description)])
            try await ChallengeStore.giveUp(sms.challengeID, in: house.database)
        }
    }
}
