import EventLoop

/// Lets a few callers in at a time, in the order in which they came.
@Loop final class LoopSemaphore {
    private var free: Int
    private var waiting: [LoopPromise<Void>] = []

    /// - Parameter count: how many are let in.
    init(_ count: Int) { free = count }

    /// Waits for a turn. The caller must give back each turn that it takes.
    func take() async throws {
        guard free == 0 else {
            free -= 1
            return
        }
        let promise = LoopPromise<Void>()
        waiting.append(promise)
        try await promise.get()
    }

    /// Gives a turn back.
    func give() { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resolve(.success(())) } }
}
