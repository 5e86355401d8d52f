import EventLoop

/// A deadline that moves often and expires seldom. Moving it to a later time needs no new timer.
@Loop final class Deadline {
    private var due: UInt64?
    private var timer: LoopTimer?
    private var timerDue = UInt64.max
    var onExpiry: @Loop () -> Void = {}

    func set(after duration: Duration) {
        let due = MonotonicClock.now() + duration.nanoseconds
        self.due = due
        if due < timerDue { arm(due) }
    }

    func cancel() { due = nil }

    private func arm(_ due: UInt64) {
        timer?.cancel()
        timerDue = due
        let now = MonotonicClock.now()
        timer = LoopTimer(after: .nanoseconds(Int64(due > now ? due - now : 0))) { [weak self] in self?.fired() }
    }

    private func fired() {
        timerDue = .max
        guard let due else { return }
        guard due <= MonotonicClock.now() else { return arm(due) }
        self.due = nil
        onExpiry()
    }
}
