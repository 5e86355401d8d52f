/// One value handed from a `@Loop` producer to the tasks that wait for it.
///
/// Every `get` after `resolve` answers at once with the same value; the first `resolve` wins.
@Loop public final class LoopPromise<Value: Sendable> {
    private var result: Result<Value, any Error>?
    private var waiting: [UnsafeContinuation<Value, any Error>] = []

    public init() {}

    public var isResolved: Bool { result != nil }

    public func resolve(_ result: Result<Value, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        for continuation in waiting { continuation.resume(with: result) }
        waiting = []
    }

    /// Waits for the value. It does not look at the task's cancellation: whoever promised resolves in every case.
    public func get() async throws -> Value {
        if let result { return try result.get() }
        return try await withUnsafeThrowingContinuation { waiting.append($0) }
    }
}
