import BusProtocol
import BusRuntime
import EventLoop

/// Receives the events of one type in place of the service that subscribes to them.
@Loop public final class EventRecorder<Event: BusEvent>: RequestHandler {
    public private(set) var heard: [Event] = []
    private var waiting: [(count: Int, promise: LoopPromise<Void>)] = []

    public init() {}

    public func handle(_ request: Event, context: RequestContext) async throws -> Acknowledged {
        heard.append(request)
        for (count, promise) in waiting where heard.count >= count { promise.resolve(.success(())) }
        waiting.removeAll { heard.count >= $0.count }
        return Acknowledged()
    }

    /// Waits for this many events and returns them.
    public func atLeast(_ count: Int) async throws -> [Event] {
        if heard.count < count {
            let promise = LoopPromise<Void>()
            waiting.append((count, promise))
            try await promise.get()
        }
        return heard
    }
}
