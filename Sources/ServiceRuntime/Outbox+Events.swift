import BusProtocol
import Database
import EventLoop
import JSONText

extension Outbox {
    /// Stores an event for each of its subscribers, in the order of the person's events. It stores nothing about a
    /// deleted person.
    ///
    /// - Parameter watch: waits for the first attempt to deliver the event.
    package func publish(
        _ event: some BusEvent, watch: DeliveryWatch? = nil, in transaction: Transaction
    ) async throws {
        let type = Swift.type(of: event)
        try await publish(
            type.type, version: type.version, about: event.personID, to: type.rules.receivers,
            watch: watch, in: transaction
        ) { sequence in
            var event = event
            event.personSequence = sequence
            return event.jsonBytes
        }
    }
}

extension EventPosition {
    /// Records an event in the transaction of its effect.
    ///
    /// - Returns: false if this event or a later one of the same producer and person was accepted before, or if the
    ///   person was deleted.
    package static func accept(
        _ event: some BusEvent, from producer: ServiceName, in transaction: Transaction
    ) async throws -> Bool {
        try await accept(event.personSequence, about: event.personID, from: producer, in: transaction)
    }
}
