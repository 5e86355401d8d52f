import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Asks a receiver of the service's events whether its database is still the one that took them. If the database fell
/// back to an earlier moment, the service delivers the events since then again.
@Loop struct ReceiverEpoch {
    let receiver: ServiceName
    let outbox: Outbox
    let bus: Bus
    let log: Log

    /// The services that receive a service's events.
    static func receivers(of producer: ServiceName) -> Set<ServiceName> {
        let events = MessageCatalogue.all.filter { $0 is any BusEvent.Type && $0.rules.callers.contains(producer) }
        return Set(events.flatMap { $0.rules.receivers })
    }

    /// If a receiver does not answer, the next round asks it again.
    func agree() async throws {
        guard bus.hasReadyReplica(of: receiver) else { return }
        let known = try await outbox.knowledge(of: receiver)
        guard let present = try? await ask(known.epoch, known) else { return }
        // If this service and the receiver share a cluster, there is nothing to note.
        guard known.epoch != nil || present.epoch != nil else { return }
        let isAnother = known.epoch != nil && present.epoch != nil && present.epoch != known.epoch
        if isAnother {
            let count = try await outbox.putBack(to: receiver, since: present.since)
            log.warning(
                "events_put_back", ["receiver": .string(receiver.rawValue), "events": .integer(count)])
        }
        try await outbox.note(present.epoch, of: receiver)
        guard let epoch = present.epoch, epoch != known.epoch else { return }
        _ = try? await ask(epoch, known)
        if isAnother { try await outbox.release(to: receiver) }
    }

    private func ask(_ epoch: String?, _ known: Outbox.Knowledge) async throws(BusError) -> DatabaseEpoch {
        try await bus.call(
            AgreeOnEpoch(epoch: epoch, cluster: known.cluster, at: known.now), of: receiver,
            CallOptions(timeout: .seconds(2)))
    }
}

/// A receiver's answer.
struct AgreeOnEpochHandler: RequestHandler {
    let database: Database

    func handle(_ request: AgreeOnEpoch, context: RequestContext) async throws -> DatabaseEpoch {
        let present = try await EventEpoch.agree(
            on: request.epoch, in: request.cluster, at: request.at, with: context.caller, over: database)
        return DatabaseEpoch(epoch: present.epoch, since: present.since)
    }
}
