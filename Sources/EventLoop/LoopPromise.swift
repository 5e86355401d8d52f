/// A value that a `@Loop` producer passes to the tasks that wait for it.
///
/// After the first `resolve`, every `get` returns at once with its result. Later calls of `resolve` do nothing.
@Loop package final class LoopPromise<Value: Sendable> {
    private var result: Result<Value, any Error>?
    private var waiting: [UnsafeContinuation<Value, any Error>] = []

    /// Makes a promise without a result.
    package init() {}

    /// Whether there is a result.
    package var isResolved: Bool { result != nil }

    /// Sets the result and resumes all waiting tasks.
    package func resolve(_ result: Result<Value, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        for continuation in waiting { continuation.resume(with: result) }
        waiting = []
    }

    /// Waits for the value. Cancelling the task does not end the wait, so the producer must always resolve the promise.
    ///
    /// - Throws: the error of the result.
    package func get() async throws -> Value {
        if let result { return try result.get() }
        return try await withUnsafeThrowingContinuation { continuation in
            // A task from outside the loop is queued once more on its way here. The promise may be resolved meanwhile.
            if let result {
                continuation.resume(with: result)
            } else {
                waiting.append(continuation)
            }
        }
    }
}
