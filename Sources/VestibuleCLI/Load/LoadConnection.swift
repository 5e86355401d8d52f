import EventLoop
import Foundation

/// Why a call of a load has no answer.
enum LoadFailure: String, Error {
    /// No answer came in time.
    case timeout = "no_answer_in_time"
    /// No process listens at the address.
    case refused = "connection_refused"
    /// The connection ended before the answer did.
    case broken = "connection_broken"
    /// The answer is not HTTP/1.1 with a length.
    case unreadable = "answer_unreadable"
    /// This machine has no socket or port left.
    case noSocket = "no_socket"
}

/// A connection that stays open from call to call. It carries one call at a time.
@Loop final class LoadConnection {
    private let descriptor: Int32
    private var watch: FileWatch?
    private var unsent: ArraySlice<UInt8> = []
    private var received: [UInt8] = []
    private var head: HTTPAnswerHead?
    private var waiting: UnsafeContinuation<Result<HTTPAnswer, LoadFailure>, Never>?
    private var timer: LoopTimer?

    /// Whether it can carry another call.
    var isUsable: Bool { watch != nil }

    /// Begins to connect. The first call waits until the connection is open.
    ///
    /// - Parameter source: the address of this machine that the connection comes from.
    /// - Throws: ``LoadFailure/noSocket``.
    init(to target: sockaddr_in, from source: sockaddr_in) throws(LoadFailure) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw .noSocket }
        var one = Int32(1)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        // Let the system choose the port when it connects. A port chosen at `bind` could serve only one connection in
        // all.
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &one, 4)
        guard HTTPClient.on(source, { bind(descriptor, $0, $1) }) == 0,
            HTTPClient.on(target, { connect(descriptor, $0, $1) }) == 0 || errno == EINPROGRESS
        else {
            Glibc.close(descriptor)
            throw .noSocket
        }
        watch = FileWatch(descriptor, for: .read) { [unowned self] in ready($0) }
    }

    isolated deinit { close() }

    /// Ends the connection, and the call that it carries.
    func close() { fail(.broken) }

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: ``LoadFailure``; after it, the connection is of no use.
    func answer(to request: [UInt8], within limit: Duration) async throws(LoadFailure) -> HTTPAnswer {
        guard isUsable else { throw .broken }
        unsent = request[...]
        timer = LoopTimer(after: limit) { [weak self] in self?.fail(.timeout) }
        return try await withUnsafeContinuation { waiting in
            self.waiting = waiting
            send()
        }.get()
    }

    private func ready(_ events: FileInterest) {
        if events.contains(.read) { receive() }
        if isUsable, events.contains(.write) { send() }
    }

    private func send() {
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count >= 0 else {
                // A socket that is still connecting has no room either.
                guard errno == EAGAIN || errno == EINTR else { return failByNumber() }
                watch?.update([.read, .write])
                return
            }
            unsent = unsent.dropFirst(count)
        }
        watch?.update(.read)
    }

    private func receive() {
        let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { received += buffer.prefix(count) }
            return count
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count != 0 else { return fail(.broken) }
        guard count > 0 else { return failByNumber() }
        do {
            if head == nil { head = try HTTPAnswerHead(received) }
        } catch {
            return fail(.unreadable)
        }
        guard let head, received.count >= head.length + head.bodyLength else { return }
        guard waiting != nil, received.count == head.length + head.bodyLength else { return fail(.unreadable) }
        let answer = HTTPAnswer(status: head.status, headers: head.headers, bytes: Array(received[head.length...]))
        received.removeAll(keepingCapacity: true)
        self.head = nil
        finish(.success(answer))
        if answer.headers["connection"] == "close" { close() }
    }

    private func finish(_ result: Result<HTTPAnswer, LoadFailure>) {
        timer?.cancel()
        timer = nil
        let waiting = self.waiting
        self.waiting = nil
        waiting?.resume(returning: result)
    }

    /// The first system call on a refused connection gets the error.
    private func failByNumber() { fail(errno == ECONNREFUSED ? .refused : .broken) }

    private func fail(_ failure: LoadFailure) {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.close(descriptor)
        finish(.failure(failure))
    }
}
