import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

/// Makes calls at an even rate, without waiting for earlier ones.
@Loop final class Load {
    struct Outcome: Sendable {
        let id: Int
        /// The time of the call, in nanoseconds of ``MonotonicClock``.
        let asked: UInt64
        let ended: UInt64
        /// The process that answered.
        let process: Int?
        let error: BusError?
        var took: Duration { .nanoseconds(ended - asked) }
    }

    private let client: Bus
    private let work: TestWork
    private let timeout: Duration
    private var calls: [Task<Outcome, any Error>] = []
    private(set) var outcomes: [Outcome] = []
    /// The ID of the next call. Later calls have larger IDs.
    var nextID: Int { calls.count }
    private var isOver = false

    init(on client: Bus, _ work: TestWork, timeout: Duration) {
        (self.client, self.work, self.timeout) = (client, work, timeout)
    }

    /// Makes this many calls per second for a while.
    func run(perSecond rate: Double, for time: Duration) async throws {
        let start = MonotonicClock.now()
        let end = start + time.nanoseconds
        var asked = 0.0
        while true {
            let now = MonotonicClock.now()
            guard now < end, !isOver else { break }
            while asked < Double(now - start) / 1e9 * rate {
                ask()
                asked += 1
            }
            try await Loop.sleep(for: .milliseconds(1))
        }
    }

    /// Makes calls until ``finish()``, for at most a minute.
    func begin(perSecond rate: Double) -> Task<Void, any Error> {
        Loop.spawn { try await self.run(perSecond: rate, for: .seconds(60)) }
    }

    /// Makes no more calls, and waits for the answers.
    func finish() async throws {
        isOver = true
        for call in calls { _ = try await call.value }
    }

    /// Makes one call.
    func ask() {
        let id = nextID
        calls.append(Loop.spawn { await self.call(id) })
    }

    private func call(_ id: Int) async -> Outcome {
        var request = work
        request.id = id
        let asked = MonotonicClock.now()
        var (process, failure) = (nil as Int?, nil as BusError?)
        do throws(BusError) {
            process = try await client.call(request, .within(timeout)).process
        } catch {
            failure = error
        }
        let outcome = Outcome(id: id, asked: asked, ended: MonotonicClock.now(), process: process, error: failure)
        outcomes.append(outcome)
        return outcome
    }
}

extension [Load.Outcome] {
    var failed: [Load.Outcome] { filter { $0.error != nil } }
    var answered: [Load.Outcome] { filter { $0.error == nil } }

    /// The longest time between the ends of two consecutive calls.
    var longestSilence: Duration {
        let ends = map(\.ended).sorted()
        return zip(ends, ends.dropFirst()).map { .nanoseconds($1 - $0) }.max() ?? .zero
    }

    /// Expects that no call failed. If the machine stood still, too many calls came at once or replicas were considered
    /// lost, so the test may run again.
    func expectNoFailure() {
        let first = Comment(rawValue: failed.first.debugDescription)
        let stoodStill = longestSilence > .milliseconds(200)
        #expect(failed.isEmpty, stoodStill ? .time(first.rawValue) : first)
    }

    /// The time within which this share of the calls ended.
    func took(_ share: Double) -> Duration {
        let sorted = map(\.took).sorted()
        return sorted.isEmpty ? .zero : sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
