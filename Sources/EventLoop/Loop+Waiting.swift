import CLinux
import Foundation

extension Loop {
    /// Suspends the task for `duration`, on the loop's own timers.
    ///
    /// - Throws: `CancellationError` at once where the task is cancelled.
    @Loop public static func sleep(for duration: Duration) async throws {
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await sleeper.wait(duration)
        } onCancel: {
            spawn { await sleeper.cancel() }
        }
    }

    /// Suspends the task until an instant of ``MonotonicClock``, and then for some ten microseconds more at most.
    ///
    /// ``sleep(for:)`` rounds up to a millisecond from the moment of its call, and so tells an observer that moment.
    @Loop public static func sleep(until instant: UInt64) async {
        let descriptor = CLinux_timerfd(UInt(max(instant, 1)))
        guard descriptor >= 0 else {
            // No descriptor to spare: late by a millisecond is better than never.
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

    /// Runs `work`, which may block for long, on a thread that is neither the loop's nor one of the few that Swift's own tasks
    /// share: a connection that takes five seconds to fail must keep nobody else waiting.
    public nonisolated static func offload<Success: Sendable>(
        _ work: @escaping @Sendable () throws -> Success
    ) async throws -> Success { try await blocking.run(work) }

    /// Runs `work`, which computes for long, beside the loop, no more at a time than there are processors: what many clients
    /// ask for at once waits in line instead of taking the processors from the loop.
    public nonisolated static func compute<Success: Sendable>(
        _ work: @escaping @Sendable () throws -> Success
    ) async throws -> Success { try await computing.run(work) }

    private static let blocking = WorkLine(threads: 32)
    private static let computing = WorkLine(threads: ProcessInfo.processInfo.activeProcessorCount)

    /// Calls `body` once, when the jobs of this turn have run and before the loop waits again.
    @Loop public static func atEndOfTurn(_ body: @escaping @Loop () -> Void) { LoopSources.shared.atEndOfTurn(body) }
}

@Loop private final class Sleeper {
    private var continuation: UnsafeContinuation<Void, any Error>?
    private var timer: LoopTimer?
    private var isCancelled = false

    func wait(_ duration: Duration) async throws {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            guard !isCancelled, !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
            self.continuation = continuation
            timer = LoopTimer(after: duration) { [self] in finish(.success(())) }
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
