import EventLoop
import Synchronization
import Testing

/// Runs a test up to three times where it fails while the loop stands still; what fails without that fails it at once.
///
/// All sides of these tests are on one loop. A virtual processor that is taken away for a quarter of a second is a pause to
/// every replica, which refuses what may be old then, and half of the time that some calls have. What comes of pauses has
/// tests of its own, of processes that are stopped.
public struct UndisturbedTrait: TestTrait, SuiteTrait, TestScoping {
    /// How often a test may run.
    private static let tries = 3

    public let isRecursive = true

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for _ in 1..<Self.tries {
            let watch = LoopWatch()
            defer { watch.end() }
            let failed = Atomic(false)
            try await withKnownIssue("the loop stood still", isIntermittent: true) {
                try await function()
            } matching: { _ in
                guard watch.sawPause else { return false }
                failed.store(true, ordering: .relaxed)
                return true
            }
            if !failed.load(ordering: .relaxed) { return }
        }
        try await function()
    }
}

extension Trait where Self == UndisturbedTrait {
    /// For tests of which several sides share the loop.
    public static var undisturbed: UndisturbedTrait { UndisturbedTrait() }
}

/// Looks at the clock from the loop, again and again.
private final class LoopWatch: Sendable {
    /// Nanoseconds: the shortest time that one of these tests gives to something.
    private static let limit: UInt64 = 100_000_000

    private let lastLook = Atomic(MonotonicClock.now())
    private let hasPaused = Atomic(false)
    private let isOver = Atomic(false)

    init() {
        Loop.spawn { [self] in
            while !isOver.load(ordering: .relaxed) {
                look()
                try await Loop.sleep(for: .milliseconds(10))
            }
        }
    }

    /// Whether there was a pause, or is one of which the loop could not tell yet.
    var sawPause: Bool {
        look()
        return hasPaused.load(ordering: .relaxed)
    }

    func end() { isOver.store(true, ordering: .relaxed) }

    private func look() {
        let now = MonotonicClock.now()
        if now > lastLook.exchange(now, ordering: .relaxed) + Self.limit { hasPaused.store(true, ordering: .relaxed) }
    }
}
