import Dispatch
import Foundation
import Synchronization

/// Runs work on a bounded number of threads of its own, in the order in which it was added.
///
/// The thread that had work last gets the next, so that those that are not needed end. Dispatch bounds nothing. It also wakes the
/// thread that has waited longest, so that none ends, and each keeps up to 64 KB of what other threads queued.
final class WorkLine: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var threads = 0
        var waiting: [Work] = []
        /// The semaphores of the threads that wait for work. Whoever removes one signals it.
        var idle: [DispatchSemaphore] = []
    }

    private let most: Int
    private let patience: DispatchTimeInterval
    private let start: @Sendable (WorkLine) -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - threads: the most threads at a time, from 1.
    ///   - patience: how long a thread waits for work before it ends.
    ///   - start: starts a thread that calls ``workUntilIdle()``, and returns whether the system allowed it.
    init(
        threads: Int, patience: DispatchTimeInterval = .seconds(10),
        start: @escaping @Sendable (WorkLine) -> Bool = { $0.startThread() }
    ) {
        (most, self.patience, self.start) = (threads, patience, start)
    }

    func run<Success: Sendable>(_ work: @escaping @Sendable () throws -> Success) async throws -> Success {
        try await withUnsafeThrowingContinuation { continuation in
            add { continuation.resume(with: Result { try work() }) }
        }
    }

    /// The threads that work or wait for work.
    var threads: Int { state.withLock { $0.threads } }
    /// How much work has not begun.
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
        if needsThread { addThread() }
    }

    /// Starts a thread that is counted already. While the system allows no more threads, it tries again each second.
    private func addThread() {
        guard !start(self) else { return }
        state.withLock { $0.threads -= 1 }
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [self] in
            let isNeeded = state.withLock { state in
                guard !state.waiting.isEmpty, state.threads < most else { return false }
                state.threads += 1
                return true
            }
            if isNeeded { addThread() }
        }
    }

    /// `Thread` of Foundation would not say that the system has no thread left.
    func startThread() -> Bool {
        let line = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            {
                if let line = $0 { Unmanaged<WorkLine>.fromOpaque(line).takeRetainedValue().workUntilIdle() }
                return nil
            }, line.toOpaque())
        guard code == 0 else {
            line.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Works until no work came for a while.
    func workUntilIdle() {
        let semaphore = DispatchSemaphore(value: 0)
        while true {
            let next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() as Work? }
                state.idle.append(semaphore)
                return nil
            }
            if let next {
                next()
            } else if semaphore.wait(timeout: .now() + patience) == .timedOut {
                let isOver = state.withLock { state in
                    guard let place = state.idle.firstIndex(where: { $0 === semaphore }) else { return false }
                    state.idle.remove(at: place)
                    state.threads -= 1
                    return true
                }
                if isOver { return }
                // It was removed a moment ago, so its signal is there or comes.
                semaphore.wait()
            }
        }
    }
}
