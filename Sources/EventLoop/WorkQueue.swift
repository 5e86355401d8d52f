import Dispatch
import Synchronization

/// Runs work on a bounded number of threads, in the order in which it was added.
///
/// The thread that had work last gets the next work. A thread without work for a while goes back to Dispatch. So little
/// work needs few threads. Dispatch alone has no bound. It also wakes the thread that has waited longest, so that no
/// thread ends. Each thread then keeps up to 64 KB of memory that other threads queued.
final class WorkQueue: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var threads = 0
        var waiting: [Work] = []
        /// The semaphores of the threads that wait for work. The thread that removes one also signals it.
        var idle: [DispatchSemaphore] = []
    }

    private let most: Int
    private let patience: DispatchTimeInterval
    private let state = Mutex(State())

    /// - Parameters:
    ///   - threads: the most threads at a time, from 1.
    ///   - patience: how long a thread waits for work before it ends, unless it is the last one.
    init(threads: Int, patience: DispatchTimeInterval = .seconds(10)) { (most, self.patience) = (threads, patience) }

    func run<Success: Sendable>(_ work: @escaping @Sendable () throws -> Success) async throws -> Success {
        try await withUnsafeThrowingContinuation { continuation in
            add { continuation.resume(with: Result { try work() }) }
        }
    }

    /// The threads that work or wait for work.
    var threads: Int { state.withLock { $0.threads } }
    /// The number of pieces of work that have not begun.
    var waiting: Int { state.withLock { $0.waiting.count } }

    private func add(_ work: @escaping Work) {
        let needsThread = state.withLock { state in
            state.waiting.append(work)
            if let newest = state.idle.popLast() {
                newest.signal()
                return false
            }
            guard state.threads < most else { return false }
            state.threads += 1
            return true
        }
        // A new serial queue always gets a thread. The global queues have only one thread per core.
        if needsThread { DispatchQueue(label: "work").async { self.workUntilIdle() } }
    }

    private func workUntilIdle() {
        let semaphore = DispatchSemaphore(value: 0)
        while true {
            let next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() as Work? }
                state.idle.append(semaphore)
                return nil
            }
            if let next {
                next()
            } else {
                while semaphore.wait(timeout: .now() + patience) == .timedOut { if ends(semaphore) { return } }
            }
        }
    }

    /// Whether a thread that waited in vain ends. A thread that got work a moment ago does not end, since its signal is
    /// there or will come. The last thread does not end either. To make a new one, Dispatch may let the loop wait until
    /// the system has a thread.
    private func ends(_ semaphore: DispatchSemaphore) -> Bool {
        state.withLock { state in
            guard state.threads > 1, let place = state.idle.firstIndex(where: { $0 === semaphore }) else {
                return false
            }
            state.idle.remove(at: place)
            state.threads -= 1
            return true
        }
    }
}
