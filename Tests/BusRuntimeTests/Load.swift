import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

/// Calls at an even rate, whatever becomes of those before them.
@Loop final class Load {
    struct Outcome: Sendable {
        let id: Int
        /// Nanoseconds of ``MonotonicClock``.
        let asked: UInt64
        let ended: UInt64
        /// Who answered.
        let process: Int?
        let error: BusError?
        var took: Duration { .nanoseconds(ended - asked) }
    }

    private let client: Bus
    private let labour: TestWork
    private let timeout: Duration
    private var calls: [Task<Outcome, any Error>] = []
    private(set) var outcomes: [Outcome] = []
    /// The id of the next call: who has one at least as large was called from now on.
    var nextID: Int { calls.count }
    private var isOver = false

    init(on client: Bus, _ labour: TestWork, timeout: Duration) {
        (self.client, self.labour, self.timeout) = (client, labour, timeout)
    }

    /// So many calls a second, for a while.
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

    /// Calls until it is told to stop.
    func begin(perSecond rate: Double) -> Task<Void, any Error> {
        Loop.spawn { try await self.run(perSecond: rate, for: .seconds(60)) }
    }

    /// Asks no more, and waits for the answers.
    func finish() async throws {
        isOver = true
        for call in calls { _ = try await call.value }
    }

    private func ask() {
        let id = nextID
        calls.append(Loop.spawn { await self.call(id) })
    }

    private func call(_ id: Int) async -> Outcome {
        var request = labour
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

    /// The longest time in which no call ended, while there were any.
    var longestSilence: Duration {
        let ends = map(\.ended).sorted()
        return zip(ends, ends.dropFirst()).map { .nanoseconds($1 - $0) }.max() ?? .zero
    }

    /// No call fails. Where the machine itself stood still for a while, calls were too many at once behind it, or their
    /// replicas were taken for lost: that is seen again.
    func expectNoFailure() {
        let first = Comment(rawValue: failed.first.debugDescription)
        let stoodStill = longestSilence > .milliseconds(200)
        #expect(failed.isEmpty, stoodStill ? .time(first.rawValue) : first)
    }

    /// How long so large a share of them took at the most.
    func took(_ share: Double) -> Duration {
        let sorted = map(\.took).sorted()
        return sorted.isEmpty ? .zero : sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
