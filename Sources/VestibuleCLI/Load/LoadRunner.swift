import EventLoop
import Foundation

/// Starts each action at its intended time, even if earlier ones are late or have failed: an open loop.
@Loop enum LoadRunner {
    /// The times of a run.
    struct Span: Sendable {
        /// From the intended start of the first action to the end of the last one, in seconds.
        let seconds: Double
        /// The part of the time in which the loop's thread worked, while actions were started.
        let busy: Double
    }

    /// Runs all actions of a plan, and returns when the last one has ended.
    ///
    /// - Parameter act: carries out the action with a number, and returns the code of its failure. The second argument is
    ///   its intended start, from which times count.
    static func run(
        _ plan: LoadPlan, _ book: LoadBook, _ act: @escaping @Sendable @Loop (Int, UInt64) async -> String?
    ) async -> Span {
        let (origin, worked) = (MonotonicClock.now() + 1_000_000, work())
        let isOver = LoopPromise<Void>()
        for index in 0..<plan.count {
            let intended = origin + plan.start(of: index)
            // A late generator lets the answers in, too.
            if MonotonicClock.now() < intended { await Loop.sleep(until: intended) } else { await Task.yield() }
            Loop.spawn { await carryOut(index, intended) }
        }
        let end = origin + plan.start(of: plan.count)
        if MonotonicClock.now() < end { await Loop.sleep(until: end) }
        let started = MonotonicClock.now()
        let busy = Double(work() - worked) / Double(started - origin)
        if book.actions.times.count < plan.count { try? await isOver.get() }
        return Span(seconds: Double(MonotonicClock.now() - origin) / 1e9, busy: busy)

        @Sendable @Loop func carryOut(_ index: Int, _ intended: UInt64) async {
            book.began(since: intended)
            let error = await act(index, intended)
            book.ended(since: intended, error: error)
            if book.actions.times.count == plan.count { isOver.resolve(.success(())) }
        }
    }

    /// The nanoseconds that this thread has worked.
    private static func work() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
