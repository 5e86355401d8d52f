/// The process's one loop. What is marked `@Loop` runs on its thread, and the compiler checks it.
///
/// The loop starts at first use and never stops: a service is a value on it, any number of them in one process.
@globalActor public actor Loop {
    public static let shared = Loop()
    public nonisolated static let executor = LoopExecutor.start()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// Starts a task that stays on the loop, from any thread.
    ///
    /// `body` calls a `@Loop` method; without the executor preference each resumed continuation would hop over the
    /// global pool and back (12 to 17 µs instead of 0.5 µs).
    @discardableResult
    public nonisolated static func spawn<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: executor) { try await body() }
    }

    /// Synchronous entry for code that the loop itself calls back, on its thread only; elsewhere it traps.
    public nonisolated static func assumed<Result>(_ body: @Loop () throws -> Result) rethrows -> Result {
        executor.checkIsolated()
        return try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: (() throws -> Result).self)() }
    }
}
