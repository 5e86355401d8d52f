/// Gives each listener the newest value, and each change of it.
final class Broadcast<Value: Sendable & Equatable> {
    private var listeners: [AsyncStream<Value>.Continuation] = []
    private(set) var last: Value?

    deinit { for listener in listeners { listener.finish() } }

    func send(_ value: Value) {
        guard value != last else { return }
        last = value
        listeners.removeAll { if case .terminated = $0.yield(value) { true } else { false } }
    }

    /// A slow listener gets only the newest value and misses those before it.
    func listen() -> AsyncStream<Value> {
        let (stream, listener) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        if let last { listener.yield(last) }
        listeners.append(listener)
        return stream
    }
}
