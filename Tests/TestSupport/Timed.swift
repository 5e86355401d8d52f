import Synchronization
import Testing

extension Comment {
    /// Marks what bounds a time. In a ``TimedTrait`` test it may be missed where the machine was busy with other things.
    public static let time: Comment = "time:"

    /// The same, with what was measured.
    public static func time(_ text: String) -> Comment { "time: \(text)" }
}

/// Runs a test up to three times until the bounds of its times hold; what else it finds wrong fails it at once.
///
/// A bound is what the product keeps to whenever the machine lets it. A virtual processor that is taken away for half a
/// second is not its fault, and it would have to be so three times to go unnoticed as that.
public struct TimedTrait: TestTrait, TestScoping {
    /// How often a test may run.
    private static let tries = 3

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for _ in 1..<Self.tries {
            let missed = Atomic(false)
            try await withKnownIssue("this machine was slow", isIntermittent: true) {
                try await function()
            } matching: { issue in
                guard issue.comments.contains(where: { $0.rawValue.hasPrefix(Comment.time.rawValue) }) else {
                    return false
                }
                missed.store(true, ordering: .relaxed)
                return true
            }
            if !missed.load(ordering: .relaxed) { return }
        }
        try await function()
    }
}

extension Trait where Self == TimedTrait {
    /// For tests that bound a time with `#expect(…, .time)`. They have the machine to themselves.
    public static var timed: TimedTrait { TimedTrait() }

    /// The same for bounds so wide that they hold beside other tests.
    public static var bounded: TimedTrait { TimedTrait() }
}
