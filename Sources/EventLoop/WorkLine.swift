import Dispatch
import Synchronization

/// Work that waits for one of a few threads, in the order in which it came.
///
/// Dispatch has no such bound: each serial queue that has something to do gets a thread, until the system has none left.
final class WorkLine: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
    }

    private let threads: Int
    private let state = Mutex(State())

    /// - Parameter threads: that work at a time, from 1.
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
        // Dispatch gives a serial queue a thread whatever else is going on; the global queues have one per core.
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
