import BusProtocol
import BusRuntime
import EventLoop

/// Takes in the events of one type in place of the service that they are for.
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

    /// Returns what was heard as soon as there are so many.
    public func atLeast(_ count: Int) async throws -> [Event] {
        if heard.count < count {
            let promise = LoopPromise<Void>()
            waiting.append((count, promise))
            try await promise.get()
        }
        return heard
    }
}
