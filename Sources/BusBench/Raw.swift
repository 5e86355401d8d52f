import BusProtocol
import CZMQ
import Foundation
import JSONText

/// Request and reply over libzmq as in a C program. A ROUTER sends prepared bytes back, and a DEALER keeps a number of
/// requests in flight. Both block, and neither allocates memory for each call.
enum RawEcho {
    /// The bytes that the bus sends for this call.
    private static let request: [UInt8] = {
        var header = FrameHeader(kind: .request, correlationID: 1)
        header.messageType = GetOnboarding.type
        header.messageID = .ordered()
        header.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        header.budgetMs = 5000
        return frame(header, (try? WireJSON.encode(Sample.request)) ?? [])
    }()
    private static let reply: [UInt8] = {
        var header = FrameHeader(kind: .reply, correlationID: 1)
        header.hints = .init(queueDepth: 0, inFlight: 1, handlerMicroseconds: 10)
        return frame(header, (try? WireJSON.encode(Sample.reply)) ?? [])
    }()

    private static func frame(_ header: FrameHeader, _ body: [UInt8]) -> [UInt8] {
        var header = header
        header.bodyLength = UInt32(body.count)
        return header.encoded(before: body)
    }

    private static func socket(_ kind: Int32) -> UnsafeMutableRawPointer? {
        let socket = zmq_socket(zmq_ctx_new(), kind)
        var linger: Int32 = 0
        zmq_setsockopt(socket, ZMQ_LINGER, &linger, 4)
        return socket
    }

    static func serve(_ endpoint: String) -> Never {
        let socket = socket(ZMQ_ROUTER)
        zmq_bind(socket, endpoint)
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            while true {
                let id = zmq_recv(socket, buffer.baseAddress, 256, 0)
                guard id > 0 else { continue }
                zmq_recv(socket, buffer.baseAddress.map { $0 + 256 }, 768, 0)
                zmq_send(socket, buffer.baseAddress, Int(id), ZMQ_SNDMORE)
                send(reply, on: socket)
            }
        }
        exit(0)
    }

    private static func send(_ frame: [UInt8], on socket: UnsafeMutableRawPointer?) {
        zmq_send(socket, frame, frame.count, 0)
    }

    static func call(_ endpoint: String, inFlight: Int, seconds: Double) throws -> Figures {
        let socket = socket(ZMQ_DEALER)
        guard zmq_connect(socket, endpoint) == 0 else { throw BenchFailure(description: "cannot connect") }
        var latencies: [UInt64] = []
        latencies.reserveCapacity(4_000_000)
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            func answer() { zmq_recv(socket, buffer.baseAddress, 1024, 0) }
            // Replies come in order, so the next one is for the oldest request.
            var begun = [UInt64](repeating: 0, count: inFlight)
            send(request, on: socket)
            answer()
            for index in 0..<inFlight {
                begun[index] = now()
                send(request, on: socket)
            }
            let end = now() + UInt64(seconds * 1e9)
            var oldest = 0
            while true {
                answer()
                let at = now()
                latencies.append(at - begun[oldest])
                guard at < end else { break }
                begun[oldest] = at
                send(request, on: socket)
                oldest = (oldest + 1) % inFlight
            }
        }
        zmq_close(socket)
        return Figures(latencies: latencies, seconds: seconds)
    }

    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
