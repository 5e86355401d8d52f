import BusProtocol
import BusRuntime
import EventLoop
import Foundation

/// The same call over the bus as services use it: encoded, checked, decoded, and answered by a handler.
@Loop enum TypedServer {
    private struct Handler: RequestHandler {
        func handle(_ request: GetOnboarding, context: RequestContext) async throws -> OnboardingState { Sample.reply }
    }

    static func serve(_ endpoint: String, _ security: BusSecurity?) async throws {
        var configuration = BusConfiguration(service: .profile, bind: [endpoint])
        configuration.security = security
        let bus = Bus(configuration)
        bus.register(Handler())
        bus.state = .ready
        try bus.start()
        while true { try await Loop.sleep(for: .seconds(3600)) }
    }
}

@Loop enum TypedClient {
    nonisolated static func call(
        _ endpoint: String, _ security: BusSecurity?, inFlight: Int, seconds: Double
    ) async throws -> Figures {
        try await Loop.spawn { try await measure(endpoint, security, inFlight, seconds) }.value
    }

    private static func measure(
        _ endpoint: String, _ security: BusSecurity?, _ inFlight: Int, _ seconds: Double
    ) async throws -> Figures {
        var configuration = BusConfiguration(service: .auth, peers: [.profile: .endpoints([endpoint])])
        configuration.security = security
        let bus = Bus(configuration)
        try bus.start()
        defer { bus.stop() }
        // The first call also waits for the connection, so it is not measured.
        _ = try await bus.call(Sample.request, CallOptions(timeout: .seconds(5)))
        let end = MonotonicClock.now() + UInt64(seconds * 1e9)
        let callers = (0..<inFlight).map { _ in Loop.spawn { try await callUntil(end, on: bus) } }
        var latencies: [UInt64] = []
        for caller in callers { latencies += try await caller.value }
        return Figures(latencies: latencies, seconds: seconds)
    }

    nonisolated static func storm(_ endpoint: String, count: Int) async throws -> String {
        try await Loop.spawn { try await measureStorm(endpoint, count) }.value
    }

    private static func measureStorm(_ endpoint: String, _ count: Int) async throws -> String {
        let bus = Bus(BusConfiguration(service: .auth, peers: [.profile: .endpoints([endpoint])]))
        try bus.start()
        defer { bus.stop() }
        _ = try await bus.call(Sample.request, CallOptions(timeout: .seconds(5)))
        let (before, began) = (peak(), MonotonicClock.now())
        let calls = (0..<count).map { _ in
            Loop.spawn { (try? await bus.call(Sample.request, CallOptions(timeout: .seconds(30)))) != nil }
        }
        var answered = 0
        for call in calls where try await call.value { answered += 1 }
        let seconds = Double(MonotonicClock.now() - began) / 1e9
        return String(format: "%d %.2f %d", answered, seconds, (peak() - before) >> 10)
    }

    /// The most memory that this process has had, in KiB.
    private static func peak() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
    }

    private static func callUntil(_ end: UInt64, on bus: Bus) async throws -> [UInt64] {
        var latencies: [UInt64] = []
        var began = MonotonicClock.now()
        repeat {
            guard try await bus.call(Sample.request, CallOptions(timeout: .seconds(5))) == Sample.reply else {
                throw BenchFailure(description: "a wrong reply")
            }
            let now = MonotonicClock.now()
            latencies.append(now - began)
            began = now
        } while began < end
        return latencies
    }
}
