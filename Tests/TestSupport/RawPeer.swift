import BusProtocol
import BusRuntime
import CZMQ
import EventLoop
import Foundation

/// A peer that speaks libzmq and nothing of ours: what it sends may be anything.
@Loop public final class RawPeer {
    private static let context = zmq_ctx_new()
    private var raw: UnsafeMutableRawPointer?

    private init(_ kind: Int32) {
        raw = zmq_socket(Self.context, kind)
        var linger: Int32 = 0
        zmq_setsockopt(raw, ZMQ_LINGER, &linger, 4)
    }

    public static func caller(of endpoint: String) -> RawPeer {
        let peer = RawPeer(ZMQ_DEALER)
        zmq_connect(peer.raw, endpoint)
        return peer
    }

    /// With a key of its own, towards whom it takes for the holder of `server`.
    public static func caller(of endpoint: String, secret: BusKey, towards server: BusKey) throws -> RawPeer {
        let peer = RawPeer(ZMQ_DEALER)
        let keys = [
            (ZMQ_CURVE_SERVERKEY, server), (ZMQ_CURVE_PUBLICKEY, try secret.publicKey()), (ZMQ_CURVE_SECRETKEY, secret),
        ]
        for (option, key) in keys {
            let bytes = Data(base64Encoded: key.base64).map { Array($0) } ?? []
            zmq_setsockopt(peer.raw, option, bytes, bytes.count)
        }
        zmq_connect(peer.raw, endpoint)
        return peer
    }

    public static func replica(at endpoint: String) -> RawPeer {
        let peer = RawPeer(ZMQ_ROUTER)
        zmq_bind(peer.raw, endpoint)
        return peer
    }

    isolated deinit { close() }

    public func send(_ parts: [[UInt8]]) {
        for (index, part) in parts.enumerated() {
            zmq_send(raw, part, part.count, ZMQ_DONTWAIT | (index < parts.count - 1 ? ZMQ_SNDMORE : 0))
        }
    }

    public func send(_ header: FrameHeader, _ body: [UInt8] = []) {
        var header = header
        header.bodyLength = UInt32(body.count)
        if header.sentAtMs == 0 { header.sentAtMs = MonotonicClock.now() / 1_000_000 }
        send([header.encoded(), body])
    }

    /// The next message, or the empty list after `limit`.
    public func receive(within limit: Duration = .seconds(5)) async throws -> [[UInt8]] {
        var parts: [[UInt8]] = []
        _ = try await comes(within: limit) {
            while true {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = zmq_recv(raw, &buffer, buffer.count, ZMQ_DONTWAIT)
                guard count >= 0 else { return !parts.isEmpty }
                parts.append(Array(buffer.prefix(Int(count))))
                var (more, length) = (Int32(0), 4)
                zmq_getsockopt(raw, ZMQ_RCVMORE, &more, &length)
                if more == 0 { return true }
            }
        }
        return parts
    }

    /// The next frame of one of these kinds, anything else passed over.
    public func receive(
        _ kinds: FrameKind..., within limit: Duration = .seconds(5)
    ) async throws -> (FrameHeader, [UInt8])? {
        while true {
            let parts = try await receive(within: limit)
            guard parts.count >= 2 else { return nil }
            let header = try FrameHeader.decoded(parts[parts.count - 2]).get()
            if kinds.contains(header.kind) { return (header, parts[parts.count - 1]) }
        }
    }

    /// Introduces itself and waits for the answer.
    public func greet(as service: ServiceName = .gateway) async throws {
        send(FrameHeader(kind: .hello), Self.hello(service))
        _ = try await receive(.hello)
    }

    public static func hello(_ service: ServiceName, instance: Identifier = .ordered(), credit: Int = 64) -> [UInt8] {
        let text = """
            {"service":"\(service)","instance":"\(instance)","build":"raw","wire":[1,1],"catalogue":"0",\
            "credit":\(credit),"heartbeatMs":250}
            """
        return Array(text.utf8)
    }

    public func close() {
        guard let raw else { return }
        zmq_close(raw)
        self.raw = nil
    }
}
