/// Calls back once, unless cancelled first.
@Loop public final class LoopTimer {
    /// Nanoseconds since boot.
    let due: UInt64
    private var body: (@Loop () -> Void)?

    /// - Parameter body: called on the loop, never early, at most about a millisecond late on an idle loop.
    public init(after duration: Duration, _ body: @escaping @Loop () -> Void) {
        due = MonotonicClock.now() + duration.nanoseconds
        self.body = body
        LoopSources.shared.add(self)
    }

    public func cancel() { body = nil }

    var isCancelled: Bool { body == nil }

    func fire() {
        let body = self.body
        self.body = nil
        body?()
    }
}

/// A binary heap of timers, the earliest first. A cancelled one stays until it is due: it holds nothing.
@Loop struct TimerHeap {
    private var heap: [LoopTimer] = []

    nonisolated init() {}

    mutating func insert(_ timer: LoopTimer) {
        heap.append(timer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].due < heap[parent].due else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Milliseconds to wait, rounded up; -1 where there is no timer.
    mutating func millisecondsToNext(from now: UInt64) -> Int {
        while let first = heap.first, first.isCancelled { removeFirst() }
        guard let first = heap.first else { return -1 }
        return first.due <= now ? 0 : Int((first.due - now + 999_999) / 1_000_000)
    }

    /// The timers that are due, taken out. The owner fires them outside of this call: a fired timer may set a new one.
    mutating func takeDue(at now: UInt64) -> [LoopTimer] {
        var due: [LoopTimer] = []
        while let first = heap.first, first.due <= now {
            due.append(first)
            removeFirst()
        }
        return due
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].due < heap[smallest].due { smallest = child }
            }
            guard smallest != parent else { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
