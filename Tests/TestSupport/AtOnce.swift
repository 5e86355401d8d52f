import EventLoop

/// Runs a body many times concurrently and returns the results.
@Loop package func atOnce<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable @Loop () async throws -> Value
) async throws -> [Value] {
    var values: [Value] = []
    for task in (0..<count).map({ _ in Loop.spawn { try await body() } }) { values.append(try await task.value) }
    return values
}
