import EventLoop

/// Waits until a condition holds, and returns whether it did within the limit.
@Loop package func eventually(within limit: Duration = .seconds(30), _ condition: @Loop () async throws -> Bool)
    async throws
    -> Bool
{
    let end = MonotonicClock.now() + limit.nanoseconds
    while try await !condition() {
        guard MonotonicClock.now() < end else { return false }
        try await Loop.sleep(for: .milliseconds(2))
    }
    return true
}
