import BusProtocol
import Database
import EventLoop
import JSONText

extension Outbox {
    /// Tells an event to everybody who is to hear of it, in the order of the person's events. Of a person who was deleted
    /// nothing is told any more.
    public func publish(_ event: some BusEvent, in transaction: Transaction) async throws {
        let type = Swift.type(of: event)
        try await publish(
            type.type, version: type.version, about: event.personID, to: [type.rules.service] + type.rules.alsoTold,
            in: transaction
        ) { sequence in
            var event = event
            event.personSequence = sequence
            return event.jsonBytes
        }
    }
}

extension EventPosition {
    /// Notes an event in the transaction of its effect.
    ///
    /// - Returns: false where it, or a later one of the same producer and person, was taken in before, and where the person
    ///   was deleted.
    public static func accept(
        _ event: some BusEvent, from producer: ServiceName, in transaction: Transaction
    ) async throws -> Bool {
        try await accept(event.personSequence, about: event.personID, from: producer, in: transaction)
    }
}
