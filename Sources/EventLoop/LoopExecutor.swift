import CLinux
import Foundation
import Synchronization

/// Runs the jobs of `@Loop` on one thread, between looks at the sources of events.
///
/// Serial executor and task executor at once: as the first alone, every resumed continuation would be sent to the
/// global pool first.
public final class LoopExecutor: SerialExecutor, TaskExecutor {
    /// A turn takes so many jobs at the most before it looks at its sources again.
    private static let jobsPerTurn = 64
    /// And stops earlier once the jobs of the turn took so long.
    private static let nanosecondsPerTurn: UInt64 = 1_000_000

    private let foreign = Mutex<[UnownedJob]>([])
    let wake = CLinux_eventfd()
    /// These are touched on the loop's thread only, once `run` has set the last.
    private nonisolated(unsafe) var local: [UnownedJob] = []
    /// The jobs that are run one after another; it changes places with `local`, so that neither is allocated anew.
    private nonisolated(unsafe) var batch: [UnownedJob] = []
    /// Jobs between two looks at the clock: most take a microsecond, and a look after each would cost as much as a few of
    /// them; but where they are long, a turn of several would be, too.
    private nonisolated(unsafe) var jobsPerLook = 1
    private static let longJob: UInt64 = 100_000
    private nonisolated(unsafe) var thread: pthread_t = 0

    static func start() -> LoopExecutor {
        let executor = LoopExecutor()
        let thread = Thread { executor.run() }
        thread.name = "loop"
        thread.stackSize = 8 << 20
        thread.start()
        return executor
    }

    private var onLoop: Bool { pthread_equal(pthread_self(), thread) != 0 }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if onLoop {
            local.append(job)
            return
        }
        let wasEmpty = foreign.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if wasEmpty {
            var one: UInt64 = 1
            _ = write(wake, &one, 8)
        }
    }

    public func checkIsolated() { precondition(onLoop, "not on the loop's thread") }
    public func isIsolatingCurrentContext() -> Bool? { onLoop }

    private func run() -> Never {
        thread = pthread_self()
        let sources = Loop.assumed { LoopSources.shared }
        while true {
            runJobs()
            Loop.assumed { sources.runEndOfTurn() }
            let pending = !local.isEmpty
            Loop.assumed { sources.poll(onlyLook: pending) }
        }
    }

    /// Runs what is queued, within the bounds of a turn; the rest waits for the next one.
    private func runJobs() {
        let serial = asUnownedSerialExecutor(), task = asUnownedTaskExecutor()
        foreign.withLock { jobs in
            local.append(contentsOf: jobs)
            jobs.removeAll(keepingCapacity: true)
        }
        var looked = MonotonicClock.now()
        let end = looked + Self.nanosecondsPerTurn
        var ran = 0, nextLook = jobsPerLook
        while !local.isEmpty, ran < Self.jobsPerTurn {
            swap(&batch, &local)
            defer { batch.removeAll(keepingCapacity: true) }
            for index in batch.indices {
                batch[index].runSynchronously(isolatedTo: serial, taskExecutor: task)
                ran += 1
                if ran >= nextLook {
                    let now = MonotonicClock.now()
                    jobsPerLook = now - looked < Self.longJob ? 4 : 1
                    (looked, nextLook) = (now, ran + jobsPerLook)
                }
                if ran >= Self.jobsPerTurn || looked > end {
                    local.insert(contentsOf: batch[(index + 1)...], at: 0)
                    return
                }
            }
        }
    }
}
