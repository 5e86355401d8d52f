import Foundation
import Synchronization
import TestSupport

/// Connections of one address that each send half a request, and come again as soon as they were thrown out.
final class HalfRequests: Sendable {
    static let source = "127.0.0.2"

    private let isOver = Atomic(false)
    private let opened = Atomic(0)
    private let ended = DispatchSemaphore(value: 0)

    /// How often one was opened so far.
    var count: Int { opened.load(ordering: .relaxed) }

    /// - Parameter connections: that are open at a time, or would be. They are opened within a second; who was thrown out
    ///   comes again within ten, as who lets each run into its time limit would.
    init(_ connections: Int, at port: Int) {
        let thread = Thread { [self] in
            // Its machine is another one: here it gets the time that nobody else wants.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
            var (descriptors, seconds) = ([Int32](repeating: -1, count: connections), UInt32(1))
            while !isOver.load(ordering: .relaxed) {
                for place in 0..<connections where !isOver.load(ordering: .relaxed) {
                    usleep(seconds * 1_000_000 / UInt32(connections))
                    guard !AddressedSocket.isOpen(descriptors[place]) else { continue }
                    if descriptors[place] >= 0 { close(descriptors[place]) }
                    descriptors[place] = Self.open(port)
                    opened.add(1, ordering: .relaxed)
                }
                seconds = 10
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

    private static func open(_ port: Int) -> Int32 {
        let descriptor = AddressedSocket.open(port, from: source, waits: false)
        let half = Array("POST /auth/otp/send HTTP/1.1\r\nHost: h\r\nContent-Le".utf8)
        if descriptor >= 0 { send(descriptor, half, half.count, Int32(MSG_NOSIGNAL)) }
        return descriptor
    }
}
