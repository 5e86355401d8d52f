import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText

/// Delivers the items of the outbox: messages over the bus, and all others by the service's own deliverers.
@Loop package final class OutboxDelivery: ServicePart {
    private let outbox: Outbox
    private let bus: Bus
    private let log: Log
    private var deliverers: [String: @Loop (OutboxItem) async throws -> Void] = [:]
    /// The destinations with their own relay.
    private var apart: [String] = []
    private var relays: [OutboxRelay] = []
    /// For each destination, called when the receiver refuses an event because lost events must be put back first.
    var onAwaited: [String: @Loop () -> Void] = [:]

    init(_ outbox: Outbox, over bus: Bus, log: Log) { (self.outbox, self.bus, self.log) = (outbox, bus, log) }

    /// Whether all relays of this replica trust the database's clock: see ``OutboxRelay/trustsClock``.
    package var trustsClock: Bool { relays.allSatisfy(\.trustsClock) }

    func register(_ destination: String, apart isApart: Bool, _ body: @escaping @Loop (OutboxItem) async throws -> Void)
    {
        deliverers[destination] = body
        if isApart { apart.append(destination) }
    }

    func run() async {
        guard !Task.isCancelled else { return }
        relays = ([.allBut(apart)] + apart.map { OutboxLane.only($0) }).map { relay($0) }
        for relay in relays { Loop.spawn { await relay.run() } }
    }

    /// Stops all relays at the same time. Each finishes its current items.
    func stop() async {
        let ends = relays.map { relay in Loop.spawn { await relay.stop() } }
        relays = []
        for end in ends { _ = await end.result }
    }

    private func relay(_ lane: OutboxLane) -> OutboxRelay {
        let relay = OutboxRelay(outbox, lane) { [unowned self] item in try await deliver(item) }
        relay.onFailure = { [unowned self] destination, attempt, code in
            if code == ErrorCode.eventsAwaited.name { onAwaited[destination]?() }
            log.warning(
                "delivery_failed",
                ["destination": .string(destination), "attempt": .integer(attempt), "error": .string(code)])
        }
        relay.isNeverGivenUp = { Self.neverGivenUp.contains($0) }
        relay.absent = { [bus] in Self.subscribers.filter { !bus.hasReadyReplica(of: $0) }.map(\.rawValue) }
        relay.onAlarm = { [log] in log.error("outbox_alarm", Self.fields(of: $0)) }
        return relay
    }

    private func deliver(_ item: OutboxItem) async throws {
        if let deliverer = deliverers[item.destination] { return try await deliverer(item) }
        guard let type = item.messageType else {
            throw BusError(.unknownMessage, "Nobody delivers \(item.destination).")
        }
        guard let message = MessageCatalogue.all.first(where: { $0.type == type && $0.version == item.messageVersion })
        else {
            throw BusError(.unknownMessage, "This build does not know \(type)/v\(item.messageVersion).")
        }
        var rules = message.rules
        // An event has an item for each of its subscribers, and this item is for one of them.
        rules.service = ServiceName(rawValue: item.destination)
        _ = try await bus.callRaw(
            type: type, version: item.messageVersion, rules: rules, body: item.payload,
            CallOptions(timeout: .seconds(5), messageID: item.id))
    }

    private static func fields(of alarm: OutboxAlarm) -> [String: JSONValue] {
        switch alarm {
        case .clockJumped(let onNewPrimary): ["alarm": "clock_jumped", "newPrimary": .bool(onNewPrimary)]
        case .deadLetter(let destination, let id):
            ["alarm": "dead_letter", "destination": .string(destination), "id": .string(id.description)]
        case .blind(let code): ["alarm": "cannot_look", "code": .string(code)]
        }
    }

    /// The services that receive events.
    private nonisolated static let subscribers = Set(
        MessageCatalogue.all.filter { $0 is any BusEvent.Type }.flatMap { $0.rules.receivers })

    private nonisolated static let neverGivenUp = Set(
        MessageCatalogue.all.filter { $0.rules.delivery == .untilTaken }.map { $0.type })
}
