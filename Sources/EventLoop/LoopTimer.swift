/// Calls a closure once at a later time, unless it is cancelled before.
@Loop package final class LoopTimer {
    /// In nanoseconds since boot.
    let due: UInt64
    private var body: (@Loop () -> Void)?

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - duration: the time until the call.
    ///   - body: called on the loop. It is never early, and on an idle loop at most about a millisecond late.
    package convenience init(after duration: Duration, _ body: @escaping @Loop () -> Void) {
        self.init(at: MonotonicClock.now() + duration.nanoseconds, body)
    }

    /// Starts a timer for repeated work. If the duration is less than 300 ms, it is due at the aligned tick that is
    /// nearest to the end, at most 50 ms from it. Below 50 ms, that is the next tick. Otherwise it is due at the
    /// nearest main tick, at most 150 ms from the end. ``MonotonicClock/nextTick(after:)`` explains aligned ticks.
    package convenience init(about duration: Duration, _ body: @escaping @Loop () -> Void) {
        self.init(at: MonotonicClock.tick(about: duration, after: MonotonicClock.now()), body)
    }

    /// Starts a timer that is due at an instant, in nanoseconds since boot.
    package init(at instant: UInt64, _ body: @escaping @Loop () -> Void) {
        due = instant
        self.body = body
        LoopSources.shared.add(self)
    }

    /// How many timers wait in this process. A cancelled timer may count until it is due.
    package static var waiting: Int { LoopSources.shared.waitingTimers }

    /// Prevents the call. It does nothing if the call has happened already.
    package func cancel() { body = nil }

    var isCancelled: Bool { body == nil }

    func fire() {
        let body = self.body
        self.body = nil
        body?()
    }
}

/// A binary heap of timers, the earliest first. A cancelled timer may stay until it is due, but it holds no closure.
@Loop struct TimerHeap {
    private var heap: [LoopTimer] = []

    nonisolated init() {}

    var count: Int { heap.count }

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

    /// The milliseconds until the first timer, rounded up; -1 if there is none.
    mutating func millisecondsToNext(from now: UInt64) -> Int32 {
        while let first = heap.first, first.isCancelled { removeFirst() }
        guard let first = heap.first else { return -1 }
        return first.due <= now ? 0 : Int32(clamping: (first.due - now + 999_999) / 1_000_000)
    }

    /// Removes and returns the timers that are due. The caller fires them afterwards, since a fired timer may add
    /// another.
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
