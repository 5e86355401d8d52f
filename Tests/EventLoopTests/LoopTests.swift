import Foundation
import Synchronization
import Testing

@testable import EventLoop

@Suite("event loop") @Loop struct LoopTests {
    @Test func spawnedWorkAndItsContinuationsStayOnTheLoop() async throws {
        let counter = Counter()
        let task = Loop.spawn { try await counter.countAcrossSuspensions() }
        try await task.value
        #expect(counter.value == 3)
    }

    @Test func offloadedWorkRunsOutsideTheLoopAndReturnsToIt() async throws {
        let isOnLoop = try await Loop.offload { Loop.executor.isIsolatingCurrentContext() ?? false }
        #expect(!isOnLoop)
        #expect(Loop.executor.isIsolatingCurrentContext() == true)
    }

    @Test func offloadedErrorsAreRethrownOnTheLoop() async {
        await #expect(throws: CancellationError.self) { try await Loop.offload { throw CancellationError() } }
    }

    /// Each computation takes long enough for all threads to start one, and counts itself.
    @Test func computationsRunOnAsManyThreadsAsProcessors() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount
        let state = Mutex((running: 0, most: 0))
        // The first threads wait for the others, since a thread may start late.
        let end = MonotonicClock.now() + Duration.seconds(10).nanoseconds
        let tasks = (0..<50 * count).map { number in
            Loop.spawn {
                try await Loop.compute {
                    state.withLock {
                        $0.running += 1
                        $0.most = max($0.most, $0.running)
                    }
                    repeat { usleep(500) } while state.withLock { $0.most } < count && MonotonicClock.now() < end
                    state.withLock { $0.running -= 1 }
                    return number
                }
            }
        }
        var done: [Int] = []
        for task in tasks { done.append(try await task.value) }
        #expect(done == Array(tasks.indices) && state.withLock { $0.most } == count)
    }

    @Test func timersFireInTheOrderOfTheirTimesAndNeverEarly() async throws {
        let fired = LoopPromise<[Int]>()
        var order: [Int] = []
        let start = MonotonicClock.now()
        var early: [Int] = []
        var timers: [LoopTimer] = []
        for (index, delay) in [30, 10, 20, 0, 5].enumerated() {
            timers.append(
                LoopTimer(after: .milliseconds(delay)) {
                    if MonotonicClock.now() < start + UInt64(delay) * 1_000_000 { early.append(delay) }
                    order.append(index)
                    if order.count == 5 { fired.resolve(.success(order)) }
                })
        }
        #expect(try await fired.get() == [3, 4, 1, 2, 0])
        #expect(early.isEmpty, "timers fired before their time")
    }

    @Test func roughTimersAreDueAtSharedMoments() async throws {
        for milliseconds in [0, 49, 100, 250, 300, 301, 999] as [UInt64] {
            let before = MonotonicClock.now()
            let timer = LoopTimer(about: .milliseconds(milliseconds)) {}
            let unit: UInt64 = milliseconds < 300 ? 100 : 300
            let (least, most) = (max(milliseconds, unit / 2) - unit / 2, max(milliseconds, unit / 2) + unit / 2)
            #expect(timer.due % (unit * 1_000_000) == 0)
            #expect(timer.due > before + least * 1_000_000)
            #expect(timer.due <= MonotonicClock.now() + most * 1_000_000)
            timer.cancel()
        }
        let first = MonotonicClock.nextTick(after: MonotonicClock.now())
        try await Loop.sleep(about: .zero)
        #expect(MonotonicClock.now() >= first)
    }

    @Test func aCancelledTimerNeverFires() async throws {
        var fired = false
        let timer = LoopTimer(after: .milliseconds(1)) { fired = true }
        timer.cancel()
        try await Loop.sleep(for: .milliseconds(5))
        #expect(!fired)
    }

    @Test func aSleepUntilAnInstantEndsThenAndNotBefore() async throws {
        for delay: UInt64 in [0, 300_000, 1_700_000] {
            let instant = MonotonicClock.now() + delay
            await Loop.sleep(until: instant)
            #expect(MonotonicClock.now() >= instant)
        }
    }

    @Test func aCancelledSleepEndsAtOnce() async {
        let start = MonotonicClock.now()
        let task = Loop.spawn { try await Loop.sleep(for: .seconds(30)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(MonotonicClock.now() - start < 5_000_000_000)
    }

    @Test func aDescriptorIsReportedReadableUntilItIsRead() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let told = LoopPromise<UInt8>()
        let source = ends[0]
        let watch = FileWatch(source, for: .read) { interest in
            #expect(interest.contains(.read))
            var byte: UInt8 = 0
            _ = read(source, &byte, 1)
            told.resolve(.success(byte))
        }
        var byte: UInt8 = 7
        _ = write(ends[1], &byte, 1)
        #expect(try await told.get() == 7)
        watch.cancel()
    }

    /// A job that always enqueues another must not keep the loop from its timers.
    @Test func busyJobsDoNotStarveTimers() async throws {
        let spinner = Spinner()
        let spinning = Loop.spawn { await spinner.spin() }
        try await Loop.sleep(for: .milliseconds(20))
        spinner.isStopped = true
        try await spinning.value
        #expect(spinner.turns > 0)
    }

    @Test func endOfTurnRunsOnceAfterTheJobsOfTheTurn() async throws {
        let counter = TurnCounter()
        Loop.atEndOfTurn(counter)
        #expect(counter.turns == 0)
        try await Loop.sleep(for: .milliseconds(1))
        #expect(counter.turns == 1)
    }

    @Test func aPromiseGivesAllWaitersItsFirstValue() async throws {
        let promise = LoopPromise<Int>()
        let waiter = Waiter(promise: promise)
        let tasks = (0..<3).map { _ in Loop.spawn { try await waiter.ask() } }
        try await Loop.sleep(for: .milliseconds(1))
        promise.resolve(.success(1))
        promise.resolve(.success(2))
        for task in tasks { #expect(try await task.value == 1) }
        #expect(try await promise.get() == 1)
    }

    /// A test's task is not the loop's own, so it is queued again on its way into `get`, and another job runs before it.
    @Test(.timeLimit(.minutes(1)), arguments: 0..<4)
    func aPromiseResolvedAsAWaitBeginsResumesTheWaiter(jobs: Int) async throws {
        let promise = LoopPromise<Int>()
        Loop.spawn { await resolve(promise, after: jobs) }
        #expect(try await promise.get() == 1)
    }
}

@Loop private func resolve(_ promise: LoopPromise<Int>, after jobs: Int) {
    guard jobs > 0 else { return promise.resolve(.success(1)) }
    Loop.spawn { await resolve(promise, after: jobs - 1) }
}

@Loop private final class TurnCounter: TurnEnding {
    private(set) var turns = 0
    func endTurn() { turns += 1 }
}

@Loop private final class Counter {
    var value = 0
    func countAcrossSuspensions() async throws {
        for _ in 0..<3 {
            try await Loop.sleep(for: .milliseconds(1))
            #expect(Loop.executor.isIsolatingCurrentContext() == true)
            value += 1
        }
    }
}

@Loop private final class Spinner {
    var isStopped = false
    var turns = 0
    func spin() async {
        while !isStopped {
            turns += 1
            await Task.yield()
        }
    }
}

@Loop private final class Waiter {
    private let promise: LoopPromise<Int>
    nonisolated init(promise: LoopPromise<Int>) { self.promise = promise }
    func ask() async throws -> Int { try await promise.get() }
}
