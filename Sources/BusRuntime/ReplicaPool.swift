import BusProtocol
import EventLoop

/// What is known of one replica.
public struct ReplicaState: Sendable, Equatable {
    public var endpoint: String
    public var instance: Identifier?
    public var build: String?
    public var isAlive: Bool
    public var state: ServiceState
    public var inFlight: Int
}

/// The replicas of one service, and the calls that wait for one.
@Loop final class ReplicaPool {
    private struct Waiter {
        let continuation: UnsafeContinuation<Void, Never>
        let deadline: UInt64
    }

    let service: ServiceName
    private let discovery: Discovery
    private let configuration: BusConfiguration
    private var replicas: [String: Replica] = [:]
    private var waiters: [Waiter] = []
    private var isClosed = false

    init(service: ServiceName, discovery: Discovery, configuration: BusConfiguration) {
        self.service = service
        self.discovery = discovery
        self.configuration = configuration
    }

    var count: Int { replicas.count }
    var hasReady: Bool { replicas.values.contains { $0.isAlive && $0.remoteState == .ready } }
    var isBusy: Bool { !waiters.isEmpty || replicas.values.contains { $0.inFlight > 0 } }
    var states: [ReplicaState] {
        replicas.values.sorted { $0.endpoint < $1.endpoint }.map {
            ReplicaState(
                endpoint: $0.endpoint, instance: $0.remote?.instance, build: $0.remote?.build, isAlive: $0.isAlive,
                state: $0.remoteState, inFlight: $0.inFlight)
        }
    }

    // MARK: Choice

    /// The replica with the fewest requests in flight, ties at random; one that was not tried before where there is.
    ///
    /// Where none can take a request it waits: for as long as the call has time while replicas are merely full, for the
    /// grace of the configuration while none is ready.
    func replica(avoiding tried: Set<String>, deadline: UInt64) async -> Replica? {
        let patience = min(deadline, MonotonicClock.now() + configuration.grace.nanoseconds)
        while !isClosed {
            if let choice = choose(avoiding: tried) { return choice }
            let limit = hasReady ? deadline : patience
            guard MonotonicClock.now() < limit else { return nil }
            await withUnsafeContinuation { waiters.append(Waiter(continuation: $0, deadline: limit)) }
        }
        return nil
    }

    private func choose(avoiding tried: Set<String>) -> Replica? {
        let able = replicas.values.filter(\.canTake)
        let fresh = able.filter { !tried.contains($0.endpoint) }
        let candidates = fresh.isEmpty ? able : fresh
        guard let fewest = candidates.lazy.map(\.inFlight).min() else { return nil }
        return candidates.filter { $0.inFlight == fewest }.randomElement()
    }

    private func wakeOne() {
        guard !waiters.isEmpty else { return }
        waiters.removeFirst().continuation.resume()
    }

    // MARK: Time

    func discover() async {
        let (discovery, name) = (discovery, service.rawValue)
        guard let found = try? await Loop.offload({ discovery.look(for: name) }), !isClosed else { return }
        for endpoint in found {
            if let known = replicas[endpoint] {
                known.absences = 0
            } else if let replica = try? Replica(endpoint: endpoint, configuration: configuration) {
                replica.onCapacity = { [weak self] in self?.wakeOne() }
                replicas[endpoint] = replica
                replica.tick(now: MonotonicClock.now())
            }
        }
        for (endpoint, replica) in replicas where !found.contains(endpoint) {
            replica.absences += 1
            guard replica.absences >= 3, !replica.isAlive || replica.remoteState == .draining else { continue }
            replica.close()
            replicas[endpoint] = nil
        }
    }

    func tick(now: UInt64) {
        for replica in replicas.values { replica.tick(now: now) }
        guard waiters.contains(where: { $0.deadline <= now }) else { return }
        let late = waiters.filter { $0.deadline <= now }
        waiters.removeAll { $0.deadline <= now }
        for waiter in late { waiter.continuation.resume() }
    }

    func close() {
        isClosed = true
        for replica in replicas.values { replica.close() }
        replicas = [:]
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.continuation.resume() }
    }
}
