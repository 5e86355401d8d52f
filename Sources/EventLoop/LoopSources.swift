import CLinux
import CZMQ
import Foundation

/// The sources that the loop waits for: file descriptors, ZeroMQ sockets and timers.
@Loop final class LoopSources {
    static let shared = LoopSources()

    private let epoll = CLinux_epoll_create()
    private var files: [UInt: FileWatch] = [:]
    private var lastToken: UInt = 0
    private var sockets: [SocketWatch] = []
    private var items: [zmq_pollitem_t] = []
    private var itemsAreStale = true
    private var timers = TimerHeap()
    private var endOfTurn: [@Loop () -> Void] = []

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

    func add(_ watch: SocketWatch) {
        sockets.append(watch)
        itemsAreStale = true
    }

    func remove(_ watch: SocketWatch) {
        sockets.removeAll { $0 === watch }
        itemsAreStale = true
    }

    func add(_ timer: LoopTimer) { timers.insert(timer) }

    func atEndOfTurn(_ body: @escaping @Loop () -> Void) { endOfTurn.append(body) }

    // MARK: A turn

    /// Runs the work at the end of a turn, such as one flush of a connection for all requests of the turn.
    func runEndOfTurn() {
        while !endOfTurn.isEmpty {
            let bodies = endOfTurn
            endOfTurn.removeAll(keepingCapacity: true)
            for body in bodies { body() }
        }
    }

    /// Waits until a source is ready or the first timer is due. Then it calls the handler of each ready source once.
    ///
    /// - Parameter onlyLook: whether to return at once if no source is ready.
    func poll(onlyLook: Bool) {
        if itemsAreStale { rebuildItems() }
        let timeout = onlyLook || !endOfTurn.isEmpty ? 0 : timers.millisecondsToNext(from: MonotonicClock.now())
        let ready = items.withUnsafeMutableBufferPointer {
            zmq_poll($0.baseAddress, Int32($0.count), timeout)
        }
        if ready > 0 {
            let (woken, filesReady) = (items[0].revents != 0, items[1].revents != 0)
            // Handlers may add or remove watches, so the ready sockets are copied first.
            let socketsReady = zip(sockets, items.dropFirst(2)).lazy.filter { $0.1.revents != 0 }.map(\.0)
            let readySockets = Array(socketsReady)
            if woken { clearWake() }
            if filesReady { dispatchFiles() }
            for watch in readySockets where !watch.isCancelled { watch.handler() }
        }
        for timer in timers.takeDue(at: MonotonicClock.now()) { timer.fire() }
    }

    private func rebuildItems() {
        let input = Int16(ZMQ_POLLIN)
        items = [
            zmq_pollitem_t(socket: nil, fd: Loop.executor.wake, events: input, revents: 0),
            zmq_pollitem_t(socket: nil, fd: epoll, events: input, revents: 0),
        ]
        items += sockets.map { zmq_pollitem_t(socket: $0.socket, fd: 0, events: input, revents: 0) }
        itemsAreStale = false
    }

    private func clearWake() {
        var count: UInt64 = 0
        _ = read(Loop.executor.wake, &count, 8)
    }

    private func dispatchFiles() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 32) { events in
            let count = Int(epoll_wait(epoll, events.baseAddress, Int32(events.count), 0))
            guard count > 0 else { return }
            for index in 0..<count {
                let event = events.baseAddress.map { $0 + index }
                guard let watch = files[CLinux_epoll_token(event)] else { continue }
                watch.handler(FileInterest(epollEvents: CLinux_epoll_events(event)))
            }
        }
    }
}
