import Dispatch

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

    /// Runs `work`, which may block or compute for long, on a thread that is neither the loop's nor one of the few that
    /// Swift's own tasks share: a connection that takes five seconds to fail must keep nobody else waiting.
    public nonisolated static func offload<Success: Sendable>(
        _ work: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        try await withUnsafeThrowingContinuation { continuation in
            // Dispatch gives a serial queue a thread whatever else is going on; the global queues have one per core.
            DispatchQueue(label: "offload").async { continuation.resume(with: Result { try work() }) }
        }
    }

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
