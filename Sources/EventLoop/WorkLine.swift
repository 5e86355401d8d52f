import Dispatch
import Synchronization

/// Runs work on a bounded number of threads, in the order in which it was added.
///
/// Dispatch alone has no such bound: it gives a thread to each busy serial queue until the system has none left.
final class WorkLine: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
    }

    private let threads: Int
    private let state = Mutex(State())

    /// - Parameter threads: the most threads at a time, from 1.
    init(threads: Int) { self.threads = threads }

    func run<Success: Sendable>(_ work: @escaping @Sendable () throws -> Success) async throws -> Success {
        try await withUnsafeThrowingContinuation { continuation in
            add { continuation.resume(with: Result { try work() }) }
        }
    }

    private func add(_ work: @escaping Work) {
        let isFree = state.withLock { state in
            guard state.running < threads else {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        // A new serial queue always gets a thread. The global queues have only one thread per core.
        if isFree { DispatchQueue(label: "work").async { self.workThrough(work) } }
    }

    private func workThrough(_ first: Work) {
        first()
        while let next = next() { next() }
    }

    private func next() -> Work? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
    }
}
