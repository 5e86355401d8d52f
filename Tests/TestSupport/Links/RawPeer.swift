import BusProtocol
import BusRuntime
import CZMQ
import EventLoop
import Foundation

/// A peer that uses libzmq and not our bus runtime, so that it can send anything.
@Loop package final class RawPeer {
    private static let context = zmq_ctx_new()
    private let isRouter: Bool
    private var raw: UnsafeMutableRawPointer?

    private init(_ kind: Int32) {
        isRouter = kind == ZMQ_ROUTER
        raw = zmq_socket(Self.context, kind)
        var linger: Int32 = 0
        zmq_setsockopt(raw, ZMQ_LINGER, &linger, 4)
    }

    package static func caller(of endpoint: String) -> RawPeer {
        let peer = RawPeer(ZMQ_DEALER)
        zmq_connect(peer.raw, endpoint)
        return peer
    }

    /// Connects with its own secret key. `server` is the public key that it expects of the other end.
    package static func caller(of endpoint: String, secret: BusKey, towards server: BusKey) throws -> RawPeer {
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

    package static func replica(at endpoint: String) -> RawPeer {
        let peer = RawPeer(ZMQ_ROUTER)
        zmq_bind(peer.raw, endpoint)
        return peer
    }

    isolated deinit { close() }

    package func send(_ parts: [[UInt8]]) {
        for (index, part) in parts.enumerated() {
            zmq_send(raw, part, part.count, ZMQ_DONTWAIT | (index < parts.count - 1 ? ZMQ_SNDMORE : 0))
        }
    }

    package func send(_ header: FrameHeader, _ body: [UInt8] = [], in wire: WireVersion = .twoParts) {
        var header = header
        header.bodyLength = UInt32(body.count)
        if header.sentAtMs == 0 { header.sentAtMs = MonotonicClock.now() / 1_000_000 }
        send(wire == .twoParts ? [header.encoded(), body] : [header.encoded(before: body)])
    }

    /// Receives the next message; empty if none comes within `limit`.
    package func receive(within limit: Duration = .seconds(30)) async throws -> [[UInt8]] {
        var parts: [[UInt8]] = []
        _ = try await eventually(within: limit) {
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

    /// Receives the next frame of one of these kinds, and skips all others.
    package func receive(
        _ kinds: FrameKind..., within limit: Duration = .seconds(30)
    ) async throws -> (FrameHeader, [UInt8])? {
        try await receiveFrame(of: kinds, within: limit).map { ($0.header, $0.body) }
    }

    /// Receives the next frame of one of these kinds, with the wire version of the frame.
    package func receiveFrame(
        of kinds: [FrameKind], within limit: Duration = .seconds(30)
    ) async throws -> (header: FrameHeader, body: [UInt8], wire: WireVersion)? {
        while true {
            let parts = try await receive(within: limit).dropFirst(isRouter ? 1 : 0)
            guard !parts.isEmpty else { return nil }
            let wire = parts.count == 1 ? WireVersion.onePart : .twoParts
            for (header, body) in try Self.frames(in: Array(parts)) where kinds.contains(header.kind) {
                return (header, body, wire)
            }
        }
    }

    /// The frames of a message, without the routing ID.
    package static func frames(in parts: [[UInt8]]) throws -> [(FrameHeader, [UInt8])] {
        guard let first = parts.first, let last = parts.last else { return [] }
        return try first.withUnsafeBytes { bytes in
            guard parts.count == 1 else { return [(try FrameHeader(decoding: bytes), last)] }
            var frames: [Result<(FrameHeader, [UInt8]), FrameError>] = []
            let isWhole = FrameBundle.read(bytes) { frame in
                frames.append(
                    Result { () throws(FrameError) in
                        let frame = try FrameHeader.read(frame)
                        return (frame.header, Array(frame.body))
                    })
            }
            guard isWhole else { throw FrameError.tooShort }
            return try frames.map { try $0.get() }
        }
    }

    /// Sends HELLO and waits for the answer.
    ///
    /// - Parameter newest: the newest wire version that the HELLO names.
    package func greet(as service: ServiceName = .gateway, newest: WireVersion = .twoParts) async throws {
        send(FrameHeader(kind: .hello), Self.hello(service, newest: newest))
        _ = try await receive(.hello)
    }

    package static func hello(
        _ service: ServiceName, instance: Identifier = .ordered(), credit: Int = 64, newest: WireVersion = .twoParts
    ) -> [UInt8] {
        let text = """
            {"service":"\(service)","instance":"\(instance)","build":"raw","wire":[1,\(newest.rawValue)],"catalogue":"0",\
            "credit":\(credit),"heartbeatMs":250}
            """
        return Array(text.utf8)
    }

    package func close() {
        guard let raw else { return }
        zmq_close(raw)
        self.raw = nil
    }
}
