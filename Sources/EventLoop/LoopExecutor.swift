import CLinux
import Foundation
import Synchronization

/// Runs the jobs of `@Loop` on one thread, and polls the sources of events between them.
///
/// It is both a serial executor and a task executor. If it were only a serial executor, every resumed continuation
/// would go through the global pool.
package final class LoopExecutor: SerialExecutor, TaskExecutor {
    /// The most jobs of a turn before the loop polls its sources again.
    private static let jobsPerTurn = 64
    /// A turn ends earlier once its jobs have taken this long.
    private static let nanosecondsPerTurn: UInt64 = 1_000_000

    private let foreign = Mutex<[UnownedJob]>([])
    let wake = CLinux_eventfd()
    /// Jobs that the loop's thread enqueued. Only that thread uses this and the next two properties. No two accesses overlap, since a
    /// job never calls `runJobs`.
    @exclusivity(unchecked) private nonisolated(unsafe) var local: [UnownedJob] = []
    /// The jobs that are running now. The loop swaps it with `local`, so that neither array is allocated again.
    @exclusivity(unchecked) private nonisolated(unsafe) var batch: [UnownedJob] = []
    /// The number of jobs between two readings of the clock. Most jobs take a microsecond, and reading the clock takes
    /// as long as a few of them. After a long job it is 1, so that a turn of long jobs ends in time.
    @exclusivity(unchecked) private nonisolated(unsafe) var jobsPerLook = 1
    private static let longJob: UInt64 = 100_000
    /// The loop's thread, once it runs. Every thread compares itself with it.
    private let thread = Atomic<pthread_t>(0)

    static func start() -> LoopExecutor {
        // glibc gives each thread that allocates memory an arena of its own, up to 16 on two processors. It keeps the
        // free memory of each arena. One arena is enough for a loop and its helpers. A thread that allocated memory
        // before the loop began has another arena.
        mallopt(M_ARENA_MAX, 1)
        let executor = LoopExecutor()
        let thread = Thread { executor.run() }
        thread.stackSize = 8 << 20
        thread.start()
        return executor
    }

    private var onLoop: Bool { pthread_equal(pthread_self(), thread.load(ordering: .relaxed)) != 0 }

    /// Adds a job. Any thread may call it.
    package func enqueue(_ job: consuming ExecutorJob) {
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

    /// Traps unless the caller is on the loop's thread.
    package func checkIsolated() { precondition(onLoop, "not on the loop's thread") }
    /// Whether the caller is on the loop's thread.
    package func isIsolatingCurrentContext() -> Bool? { onLoop }

    private func run() -> Never {
        thread.store(pthread_self(), ordering: .relaxed)
        let sources = Loop.assumed { LoopSources.shared }
        // The watch stays for the life of the process.
        let woken = Loop.assumed { [wake] in FileWatch(wake, for: .read) { _ in Self.clear(wake) } }
        defer { withExtendedLifetime(woken) {} }
        while true {
            runJobs()
            Loop.assumed {
                sources.runEndOfTurn()
                sources.runLooks()
            }
            let pending = !local.isEmpty
            Loop.assumed { sources.poll(onlyLook: pending) }
        }
    }

    private static func clear(_ wake: Int32) {
        var count: UInt64 = 0
        _ = read(wake, &count, 8)
    }

    /// Runs the queued jobs within the limits of a turn. The rest waits for the next turn.
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
