import CLinux
import Foundation

extension Loop {
    /// Suspends the task for `duration`, with a timer of the loop.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @Loop package static func sleep(for duration: Duration) async throws {
        try await sleepUnlessCancelled(until: MonotonicClock.now() + duration.nanoseconds)
    }

    /// Suspends a task that repeats the same work. If the duration is less than 300 ms, it wakes at the aligned tick
    /// that is nearest to the end, at most 50 ms from it. Below 50 ms, that is the next tick. Otherwise it wakes at
    /// the nearest main tick, at most 150 ms from the end. ``MonotonicClock/nextTick(after:)`` explains aligned ticks.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @Loop package static func sleep(about duration: Duration) async throws {
        try await sleepUnlessCancelled(until: MonotonicClock.tick(about: duration, after: MonotonicClock.now()))
    }

    @Loop private static func sleepUnlessCancelled(until instant: UInt64) async throws {
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await sleeper.wait(until: instant)
        } onCancel: {
            spawn { await sleeper.cancel() }
        }
    }

    /// Suspends the task until an instant of ``MonotonicClock``. It is late by some ten microseconds at most.
    ///
    /// ``sleep(for:)`` rounds up to a millisecond from the time of its call, so its end would reveal that time.
    @Loop package static func sleep(until instant: UInt64) async {
        let descriptor = CLinux_timerfd(UInt(max(instant, 1)))
        guard descriptor >= 0 else {
            // Without a free descriptor, use a timer of the loop, which is late by a millisecond at most.
            let now = MonotonicClock.now()
            try? await sleep(for: .nanoseconds(instant > now ? Int64(instant - now) : 0))
            return
        }
        let due = LoopPromise<Void>()
        let watch = FileWatch(descriptor, for: .read) { _ in due.resolve(.success(())) }
        try? await due.get()
        watch.cancel()
        close(descriptor)
    }

    /// Runs work that may block for long, such as a connection that takes five seconds to fail.
    ///
    /// It runs on one of at most 32 threads. These are neither the loop's thread nor the few threads that Swift's tasks
    /// share.
    package nonisolated static func offload<Success: Sendable>(
        _ work: @escaping @Sendable () throws -> Success
    ) async throws -> Success { try await blocking.run(work) }

    /// Runs work that computes for long, on as many threads as there are processors.
    ///
    /// Further work waits in a queue. So many clients at once do not take the processors from the loop.
    package nonisolated static func compute<Success: Sendable>(
        _ work: @escaping @Sendable () throws -> Success
    ) async throws -> Success { try await computing.run(work) }

    private static let blocking = WorkQueue(threads: 32)
    private static let computing = WorkQueue(threads: ProcessInfo.processInfo.activeProcessorCount)

    /// Calls ``TurnEnding/endTurn()`` of an object once, after the jobs of this turn and before the loop waits again.
    @Loop package static func atEndOfTurn(_ object: any TurnEnding) { LoopSources.shared.atEndOfTurn(object) }
}

/// Does work once at the end of a turn, even if several jobs of the turn asked for it, such as one flush of a
/// connection.
///
/// The loop keeps the object until then. It is no closure, since each turn would allocate one.
@Loop package protocol TurnEnding: AnyObject {
    /// Called once for each ``Loop/atEndOfTurn(_:)``.
    func endTurn()
}

@Loop private final class Sleeper {
    private var continuation: UnsafeContinuation<Void, any Error>?
    private var timer: LoopTimer?
    private var isCancelled = false

    func wait(until instant: UInt64) async throws {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            guard !isCancelled, !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
            self.continuation = continuation
            timer = LoopTimer(at: instant) { [self] in finish(.success(())) }
        }
    }

    func cancel() {
        isCancelled = true
        finish(.failure(CancellationError()))
    }

    private func finish(_ result: Result<Void, any Error>) {
        timer?.cancel()
        timer = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}
