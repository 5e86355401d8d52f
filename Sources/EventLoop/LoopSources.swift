import CLinux
import Foundation

/// The sources that the loop waits for: file descriptors and timers.
@Loop final class LoopSources {
    static let shared = LoopSources()

    private let epoll = CLinux_epoll_create()
    private var files: [UInt: FileWatch] = [:]
    private var lastToken: UInt = 0
    private var lookedAt: [FileWatch] = []
    private var timers = TimerHeap()
    private var endOfTurn: [any TurnEnding] = []
    /// The watches and the work of this turn. The loop swaps each array with its queue, so that neither is allocated
    /// again.
    private var (looking, ending) = ([FileWatch](), [any TurnEnding]())

    private nonisolated init() {}

    // MARK: Registration

    func add(_ watch: FileWatch) {
        lastToken += 1
        watch.token = lastToken
        files[lastToken] = watch
        control(EPOLL_CTL_ADD, watch)
    }

    func change(_ watch: FileWatch) { control(EPOLL_CTL_MOD, watch) }

    func remove(_ watch: FileWatch) {
        guard files.removeValue(forKey: watch.token) != nil else { return }
        control(EPOLL_CTL_DEL, watch)
    }

    private func control(_ operation: Int32, _ watch: FileWatch) {
        _ = CLinux_epoll_control(epoll, operation, watch.descriptor, watch.interest.epollEvents, watch.token)
    }

    func lookAgain(_ watch: FileWatch) { lookedAt.append(watch) }

    func add(_ timer: LoopTimer) { timers.insert(timer) }

    var waitingTimers: Int { timers.count }

    func atEndOfTurn(_ object: any TurnEnding) { endOfTurn.append(object) }

    // MARK: A turn

    func runEndOfTurn() {
        while !endOfTurn.isEmpty {
            swap(&ending, &endOfTurn)
            for object in ending { object.endTurn() }
            ending.removeAll(keepingCapacity: true)
        }
    }

    /// Calls the handler of each watch that asked for it by ``FileWatch/lookAgain()``. If a watch asks again, the next
    /// turn calls its handler.
    func runLooks() {
        swap(&looking, &lookedAt)
        for watch in looking { watch.look() }
        looking.removeAll(keepingCapacity: true)
    }

    /// Waits until a source is ready or the first timer is due. Then it calls the handler of each ready source once.
    ///
    /// - Parameter onlyLook: whether to return at once if no source is ready.
    func poll(onlyLook: Bool) {
        let isBusy = onlyLook || !endOfTurn.isEmpty || !lookedAt.isEmpty
        dispatchFiles(within: isBusy ? 0 : timers.millisecondsToNext(from: MonotonicClock.now()))
        for timer in timers.takeDue(at: MonotonicClock.now()) { timer.fire() }
    }

    /// - Parameter timeout: in milliseconds; -1 for no limit.
    private func dispatchFiles(within timeout: Int32) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 32) { events in
            let count = Int(epoll_wait(epoll, events.baseAddress, Int32(events.count), timeout))
            guard count > 0 else { return }
            for index in 0..<count {
                let event = events.baseAddress.map { $0 + index }
                guard let watch = files[CLinux_epoll_token(event)] else { continue }
                watch.handler(FileInterest(epollEvents: CLinux_epoll_events(event)))
            }
        }
    }
}
