import EventLoop
import Values

/// Waits until each event of a transaction was delivered once or an attempt at it failed.
@Loop package final class DeliveryWatch {
    /// How long a reply waits for the effect of its events: the person reads that effect next.
    package static nonisolated let patience = Duration.milliseconds(100)

    private var awaited: Set<Identifier> = []
    private let end = LoopPromise<Void>()

    /// Sets the items to wait for. They replace earlier ones, which belong to a transaction that was rolled back.
    func expect(_ items: [Identifier]) { awaited = Set(items) }

    func noteAttempt(at item: Identifier) {
        guard awaited.remove(item) != nil, awaited.isEmpty else { return }
        end.resolve(.success(()))
    }

    fileprivate func wait(atMost limit: Duration) async {
        guard !awaited.isEmpty else { return }
        let timer = LoopTimer(after: limit) { [end] in end.resolve(.success(())) }
        try? await end.get()
        timer.cancel()
    }
}

extension Outbox {
    /// Runs `body` and waits until the events that it published were tried, so that the caller can read their effect.
    ///
    /// - Parameters:
    ///   - limit: the longest wait. If a relay of another process delivers the events, the wait lasts that long.
    ///   - body: publishes the events with the given watch.
    package func awaitingDelivery<Value: Sendable>(
        atMost limit: Duration = DeliveryWatch.patience, _ body: @Loop (DeliveryWatch) async throws -> Value
    ) async throws -> Value {
        let watch = DeliveryWatch()
        watches.append(watch)
        defer { watches.removeAll { $0 === watch } }
        let value = try await body(watch)
        await watch.wait(atMost: limit)
        return value
    }
}
