import Dispatch
import Synchronization
import Testing

@testable import EventLoop

@Suite("threads for work that waits") struct WorkQueueTests {
    @Test func workBeginsInItsOrderOnNoMoreThreadsThanAllowed() async throws {
        let line = WorkQueue(threads: 1)
        let begun = Begun()
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = line.run { gate.wait() }
        #expect(await isSo { line.threads == 1 && line.waiting == 0 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { try await line.run { begun.numbers.withLock { $0.append(number) } } }
                #expect(await isSo { line.waiting == number + 1 })
            }
            gate.signal()
            try await group.waitForAll()
        }
        try await first
        #expect(begun.numbers.withLock { $0 } == Array(0..<100) && line.threads == 1)
    }

    /// Both gates open only if both wait at the same time.
    @Test func workThatWaitsHoldsUpNoOther() async throws {
        let line = WorkQueue(threads: 2)
        let (one, other) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<200 {
            async let first: Void = line.run {
                one.signal()
                other.wait()
            }
            async let second: Void = line.run {
                other.signal()
                one.wait()
            }
            _ = try await (first, second)
        }
        #expect(line.threads == 2)
    }

    @Test func allIdleThreadsButOneEnd() async throws {
        let line = WorkQueue(threads: 8, patience: .milliseconds(20))
        let gate = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await line.run { gate.wait() } } }
            #expect(await isSo { line.threads == 8 })
            for _ in 0..<8 { gate.signal() }
            try await group.waitForAll()
        }
        #expect(await isSo { line.threads == 1 })
        // As one of two ends, work comes: it runs on this thread, on the other or on a new one.
        for _ in 0..<100 {
            async let one = line.run { 7 }
            async let other = line.run { 8 }
            #expect(try await (one, other) == (7, 8))
            try await Task.sleep(for: .milliseconds(Int.random(in: 18...22)))
        }
    }

    /// If the thread that waited longest had the next work, both would have some in time.
    @Test func theThreadThatHadWorkLastGetsTheNext() async throws {
        let line = WorkQueue(threads: 2, patience: .milliseconds(300))
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = line.run { gate.wait() }
        async let second: Void = line.run { gate.wait() }
        #expect(await isSo { line.threads == 2 && line.waiting == 0 })
        for _ in 0..<2 { gate.signal() }
        _ = try await (first, second)
        for _ in 0..<500 where line.threads == 2 {
            try await line.run {}
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(line.threads == 1)
    }

    private final class Begun: Sendable { let numbers = Mutex<[Int]>([]) }

    private func isSo(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<5000 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }
}
