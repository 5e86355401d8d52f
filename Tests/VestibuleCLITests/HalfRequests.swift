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
        let portion = max(1, connections / 100)
        let thread = Thread { [self] in
            var (descriptors, pause) = ([Int32](repeating: -1, count: connections), UInt32(10_000))
            while !isOver.load(ordering: .relaxed) {
                for step in stride(from: 0, to: connections, by: portion) where !isOver.load(ordering: .relaxed) {
                    for place in step..<min(connections, step + portion) {
                        guard !AddressedSocket.isOpen(descriptors[place]) else { continue }
                        if descriptors[place] >= 0 { close(descriptors[place]) }
                        descriptors[place] = Self.open(port)
                        opened.add(1, ordering: .relaxed)
                    }
                    usleep(pause)
                }
                pause = 100_000
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
