import Synchronization
import Testing

extension Comment {
    /// Marks an expectation that bounds a time. A test with ``TimedTrait`` runs again if only such expectations fail.
    package static let time: Comment = "time:"

    /// The same mark, with the measured times.
    package static func time(_ text: String) -> Comment { "time: \(text)" }
}

/// Runs a test up to three times, until its time bounds hold. Any other failure fails the test at once.
///
/// A busy machine can take a virtual processor away for half a second, which is not the product's fault. A real defect
/// fails all three runs.
package struct TimedTrait: TestTrait, TestScoping {
    /// The most runs of a test.
    private static let tries = 3

    package func provideScope(
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
    /// For tests that bound a time with `#expect(…, .time)`. Each runs alone on the machine.
    package static var timed: TimedTrait { TimedTrait() }

    /// For tests that bound a time generously. The bounds hold even while other tests run.
    package static var bounded: TimedTrait { TimedTrait() }
}
