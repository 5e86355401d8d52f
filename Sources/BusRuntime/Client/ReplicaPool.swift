import BusProtocol
import EventLoop

/// The state of one replica.
package struct ReplicaState: Sendable, Equatable {
    /// Where the replica listens.
    package var endpoint: String
    /// Identifies this start of the replica; `nil` before its HELLO.
    package var instance: Identifier?
    /// The replica's build; `nil` before its HELLO.
    package var build: String?
    /// Whether the replica answers.
    package var isAlive: Bool
    /// The state that the replica last reported.
    package var state: ServiceState
    /// Requests of this process that the replica has not answered.
    package var inFlight: Int
}

/// The replicas of one service, and the calls that wait for a replica.
@Loop final class ReplicaPool {
    private struct Message: Hashable {
        let type: MessageType
        let version: UInt16
    }

    let service: ServiceName
    private let discovery: Discovery
    private let configuration: BusConfiguration
    private var replicas: [Replica] = []
    private var waiting = CallQueue()
    private var lastReadyAt: UInt64 = 0
    private var lastUnreadyAt: UInt64 = 0
    private var admission = AdmissionController()
    private var budget = RetryBudget()
    private var isClosed = false
    /// The problems of replicas that were removed.
    private var past: ReplicaFates
    private var meters: [Message: TrafficMeter] = [:]
    /// Called when a call begins or is repeated, with the time by which it needs a check.
    var onWork: (@Loop (UInt64) -> Void)?

    init(service: ServiceName, discovery: Discovery, configuration: BusConfiguration) {
        self.service = service
        self.discovery = discovery
        self.configuration = configuration
        past = ReplicaFates(service)
    }

    var hasReady: Bool { replicas.contains(where: \.isReady) }
    /// Why no replica accepts requests; `nil` if one does.
    var absence: ServiceAbsence? {
        if let security = configuration.security {
            guard security.name != nil else { return .ownKeyRevoked }
            guard !security.allowed.keys(of: service).isEmpty else { return .keyRevoked }
        }
        let alive = replicas.filter(\.isAlive)
        guard alive.isEmpty else {
            return hasReady ? nil : alive.contains { $0.remoteState == .starting } ? .starting : .draining
        }
        if replicas.contains(where: \.isRefused) { return .keyRefused }
        return replicas.isEmpty ? .notFound : .noAnswer
    }
    /// Whether calls wait for a replica.
    var isWaiting: Bool { !waiting.isEmpty }
    /// The first deadline of the calls that a replica has, in nanoseconds since boot.
    var firstDeadline: UInt64 { replicas.map(\.firstDeadline).min() ?? .max }
    var fates: ReplicaFates { replicas.reduce(past) { $0 + $1.fates } }
    /// The calls, by message.
    var asked: [Traffic] { meters.values.map(\.traffic) }
    var states: [ReplicaState] {
        replicas.sorted { $0.endpoint < $1.endpoint }.map {
            ReplicaState(
                endpoint: $0.endpoint, instance: $0.remote?.instance, build: $0.remote?.build, isAlive: $0.isAlive,
                state: $0.remoteState, inFlight: $0.inFlight)
        }
    }

    /// The report of each replica; `nil` if it does not answer in time.
    func reports(within limit: Duration) async -> [(ReplicaState, BusReport?)] {
        let looks = replicas.map { replica in Loop.spawn { await replica.report(within: limit) } }
        var reports: [String: BusReport] = [:]
        for (replica, look) in zip(replicas, looks) { reports[replica.endpoint] = (try? await look.value) ?? nil }
        return states.map { ($0, reports[$0.endpoint]) }
    }

    // MARK: Calls

    /// The counter of the calls with a message.
    func meter(of type: MessageType, _ version: UInt16) -> TrafficMeter {
        let message = Message(type: type, version: version)
        if let known = meters[message] { return known }
        let meter = TrafficMeter("\(type)/v\(version)", service)
        meters[message] = meter
        return meter
    }

    /// Sends the call to a replica, now or when one has capacity.
    ///
    /// If all replicas are full, it waits until its deadline, unless that overloads the queue. If no replica is ready,
    /// it waits for the configured grace period.
    func submit(_ call: Call) {
        budget.earn()
        enqueue(call)
    }

    private func enqueue(_ call: Call) {
        guard !isClosed else { return call.finish(.failure(.unavailable(executed: .no))) }
        guard waiting.count < configuration.mostWaiting else {
            return call.finish(
                .failure(BusError(.overloaded, "Too many requests are already waiting.", retryAfter: .seconds(1))))
        }
        let now = MonotonicClock.now()
        guard !hasReady || admission.admits(behind: waiting.count, at: now) else {
            return call.finish(.failure(.busy))
        }
        call.patience = now + configuration.grace.nanoseconds
        (call.waitsSince, call.ahead) = (now, waiting.count)
        waiting.append(call)
        dispatch()
        onWork?(isWaiting ? 0 : call.deadline)
    }

    func cancel(_ call: Call) {
        guard !call.isDone else { return }
        call.finish(.failure(BusError(.deadlineExceeded, "Nobody waits for the answer.", executed: .unknown)))
        call.replica?.forget(call)
    }

    /// First come, first served.
    private func dispatch() {
        while let call = waiting.first {
            let now = MonotonicClock.now()
            guard let replica = choose(for: call, at: now) else { return }
            waiting.removeFirst()
            // Waiting while no replica is ready is no overload.
            let wait = now - min(max(call.waitsSince, lastUnreadyAt), now)
            guard admission.begins(after: wait, behind: call.ahead, at: now) else {
                call.finish(.failure(.busy))
                continue
            }
            replica.give(call)
        }
    }

    /// The replica with the fewest requests in flight; ties are broken at random. A replica that had this call is
    /// chosen only if there is no other. A new replica takes part only in some choices.
    private func choose(for call: Call, at now: UInt64) -> Replica? {
        let aside = replicas.count { $0.isAside(at: now) }
        let oldest = replicas.reduce(0) { $1.isReady ? max($0, now - $1.readySince) : $0 }
        var (best, bestRank, ties) = (nil as Replica?, Int.max, 0)
        for replica in replicas where replica.canTake {
            var rank = replica.inFlight
            // At most half of the replicas are ejected.
            if replica.isAside(at: now), aside * 2 <= replicas.count { rank += 1 << 20 }
            let chance = SlowStart.chance(age: now - replica.readySince, oldest: oldest)
            if chance < 1, Double.random(in: 0..<1) >= chance { rank += 1 << 19 }
            if call.tried.contains(replica.endpoint) { rank += 1 << 21 }
            if rank < bestRank {
                (best, bestRank, ties) = (replica, rank, 1)
            } else if rank == bestRank {
                ties += 1
                if Int.random(in: 0..<ties) == 0 { best = replica }
            }
        }
        return best
    }

    private func attemptEnded(_ call: Call, _ outcome: Replica.Outcome) {
        switch outcome {
        case .reply(let reply): call.finish(.success(reply))
        case .error(let error):
            // A replica that is stopping, full or was paused answers "not executed". Another replica is called at once.
            let mayMove =
                error.executed == .no && [.unavailable, .overloaded, .deadlineExceeded].contains(error.status)
            guard mayMove, call.mayFollow(written: false) else { return call.finish(.failure(error)) }
            let hasOther = hasReplica(besides: call.tried)
            // Without another replica, a request that waited too long means that this replica was paused, not that it
            // is full.
            let mayStay = error.status == .deadlineExceeded && call.deadline > MonotonicClock.now()
            guard hasOther || mayStay, spendRetry() else { return call.finish(.failure(error)) }
            if hasOther { again(call) } else { againLater(call) }
        case .notWritten:
            // No replica did any work for the call, so it costs no retry.
            call.takeBack()
            again(call)
        case .lost:
            guard call.mayFollow(written: true), spendRetry() else {
                return call.finish(.failure(.unavailable(executed: .unknown)))
            }
            // The same replica is called again only if there is no other. A delay keeps its callers from repeating all
            // at once.
            if hasReady, !hasReplica(besides: call.tried) { againLater(call) } else { again(call) }
        }
    }

    private func spendRetry() -> Bool { budget.spend(at: MonotonicClock.now()) }

    private func again(_ call: Call) {
        guard !call.isDone else { return }
        call.meter.retry()
        enqueue(call)
    }

    private func againLater(_ call: Call) {
        var generator = SystemRandomNumberGenerator()
        let pause = RetryPause.pause(after: call.header.attempt, using: &generator)
        let now = MonotonicClock.now()
        let remaining = Duration.nanoseconds(call.deadline - min(now, call.deadline))
        _ = LoopTimer(after: min(pause, remaining)) { [weak self] in
            guard let self else { return call.finish(.failure(.unavailable(executed: .unknown))) }
            again(call)
        }
    }

    private func hasReplica(besides tried: [String]) -> Bool {
        replicas.contains { $0.isReady && !tried.contains($0.endpoint) }
    }

    // MARK: Discovery

    /// Discovers replicas until the pool is closed.
    func discover() async {
        while !isClosed {
            let alive = Set(replicas.filter(\.isAlive).map(\.endpoint))
            let (discovery, name) = (discovery, service.rawValue)
            if let found = try? await Loop.offload({ discovery.look(for: name, alive: alive) }) { apply(found) }
            let (interval, factor) = (configuration.discoveryInterval, Double.random(in: 1...1.5))
            guard replicas.isEmpty else {
                let pause = discovery.interval(interval) * factor
                try? await Loop.sleep(about: pause)
                // A lost replica's successor must be found soon, so the second pause is for those that have a ready one.
                if hasReady, discovery.isDirectory { try? await Loop.sleep(about: pause) }
                continue
            }
            // This process started together with the service, or the service will return soon.
            try? await Loop.sleep(for: discovery.interval(min(interval, Self.eagerInterval)) * factor)
        }
    }

    private static let eagerInterval = Duration.milliseconds(50)

    private func apply(_ found: Set<String>) {
        guard !isClosed else { return }
        for endpoint in found.sorted() {
            if let known = replicas.first(where: { $0.endpoint == endpoint }) {
                known.absences = 0
            } else if let replica = try? makeReplica(endpoint) {
                replicas.append(replica)
            }
        }
        for replica in replicas where !found.contains(replica.endpoint) {
            replica.absences += 1
            let isIdle = replica.remoteState == .draining && replica.inFlight == 0
            guard replica.absences >= 3, !replica.isAlive || isIdle else { continue }
            replicas.removeAll { $0 === replica }
            replica.close()
            past = past + replica.fates
        }
    }

    /// The allow list has changed.
    func keysChanged() {
        for replica in replicas { replica.keysChanged() }
    }

    private func makeReplica(_ endpoint: String) throws(ZMQError) -> Replica {
        try Replica(
            of: service, at: endpoint, configuration, onCapacity: { [weak self] in self?.dispatch() },
            onOutcome: { [weak self] call, outcome in
                guard let self else { return call.finish(.failure(.unavailable(executed: .unknown))) }
                attemptEnded(call, outcome)
            })
    }

    // MARK: Time and end

    func tick(now: UInt64) {
        for replica in replicas { replica.tick(now: now) }
        let isReady = hasReady
        if isReady { lastReadyAt = now } else { lastUnreadyAt = now }
        let grace = configuration.grace.nanoseconds
        waiting.end { call in
            if call.deadline <= now, isReady {
                return BusError(.deadlineExceeded, "The service was too busy to answer in time.")
            }
            let isOver = call.deadline <= now || !isReady && max(call.patience, lastReadyAt + grace) <= now
            return isOver ? .unavailable(executed: .no) : nil
        }
    }

    func close() {
        isClosed = true
        for replica in replicas { replica.close() }
        replicas = []
        waiting.end { _ in .unavailable(executed: .no) }
    }
}
