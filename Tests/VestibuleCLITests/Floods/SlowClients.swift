import Foundation
import Synchronization
import TestSupport

/// Connections of clients that never finish a request, and that connect again when the server closes them.
final class SlowClients: Sendable {
    /// What a client leaves undone.
    enum Manner: Sendable {
        /// It sends half a request.
        case writesHalf
        /// It asks for a large answer and takes none of it.
        case readsNothing
        /// It sends half a request, and then a byte now and then.
        case writesSlowly
        /// It asks for a large answer, and takes a little of it now and then.
        case readsSlowly

        fileprivate var bytes: [UInt8] {
            switch self {
            case .writesHalf, .writesSlowly: Array("POST /auth/otp/send HTTP/1.1\r\nHost: h\r\nContent-Le".utf8)
            case .readsNothing, .readsSlowly: Array("GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
            }
        }

        fileprivate func goOn(_ descriptor: Int32) {
            var taken = [UInt8](repeating: 0, count: 4096)
            switch self {
            case .writesHalf, .readsNothing: return
            case .writesSlowly: send(descriptor, "n", 1, Int32(MSG_NOSIGNAL))
            case .readsSlowly: recv(descriptor, &taken, taken.count, 0)
            }
        }
    }

    private let isOver = Atomic(false)
    private let opened = Atomic(0)
    private let ended = DispatchSemaphore(value: 0)

    /// How often one was opened so far.
    var count: Int { opened.load(ordering: .relaxed) }

    /// - Parameters: - connections: that are open at a time, or would be. They are opened within a second. Every five
    ///   seconds, slow clients send or read more, and closed ones connect again. - sources: the addresses that they
    ///   come from, in turns. - manners: what they leave undone, in turns.
    init(_ connections: Int, at port: Int, from sources: [String], _ manners: [Manner]) {
        let thread = Thread { [self] in
            // Its machine is another one: here it gets the time that nobody else wants. 5 is SCHED_IDLE (sched(7) of Linux),
            // which Glibc's module does not have.
            var parameters = sched_param()
            sched_setscheduler(0, 5, &parameters)
            var (descriptors, seconds) = ([Int32](repeating: -1, count: connections), UInt32(1))
            while !isOver.load(ordering: .relaxed) {
                for place in 0..<connections where !isOver.load(ordering: .relaxed) {
                    usleep(seconds * 1_000_000 / UInt32(connections))
                    let manner = manners[place % manners.count]
                    guard !Self.isThere(descriptors[place]) else {
                        manner.goOn(descriptors[place])
                        continue
                    }
                    if descriptors[place] >= 0 { close(descriptors[place]) }
                    descriptors[place] = AddressedSocket.open(port, from: sources[place % sources.count], waits: false)
                    guard descriptors[place] >= 0 else { continue }
                    send(descriptors[place], manner.bytes, manner.bytes.count, Int32(MSG_NOSIGNAL))
                    opened.add(1, ordering: .relaxed)
                }
                seconds = 5
            }
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            ended.signal()
        }
        thread.start()
    }

    /// Ends them all.
    func end() {
        isOver.store(true, ordering: .relaxed)
        ended.wait()
    }

    /// Whether the other end has not closed the connection.
    private static func isThere(_ descriptor: Int32) -> Bool {
        guard descriptor >= 0 else { return false }
        // POLLRDHUP, which Glibc's module does not have: also where bytes are left to read before the end.
        var events = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return poll(&events, 1, 0) == 0
    }
}
