import CZMQ
import Foundation

/// A Curve25519 key of the bus, secret or public: 32 bytes, in files as base64.
///
/// Source: CurveZMQ, RFC 26 of the ZeroMQ project.
package struct BusKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a key.
    ///
    /// - Parameter text: 44 characters of base64; `nil` for anything else.
    package init?(base64 text: some StringProtocol) {
        guard let data = Data(base64Encoded: String(text)), data.count == 32 else { return nil }
        bytes = Array(data)
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        self.bytes = Array(bytes)
    }

    /// It reveals nothing of the key, which may be secret.
    package var description: String { "a key of the bus" }
    /// Empty, so that no dump contains a secret key.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The key in base64, 44 characters.
    package var base64: String { Data(bytes).base64EncodedString() }

    /// A new secret key from the system's random source.
    ///
    /// - Throws: ``ZMQError`` if libzmq was built without CURVE.
    package static func newSecret() throws(ZMQError) -> BusKey {
        var (publicText, secretText) = ([CChar](repeating: 0, count: 41), [CChar](repeating: 0, count: 41))
        guard zmq_curve_keypair(&publicText, &secretText) == 0 else { throw .last("zmq_curve_keypair") }
        return try BusKey(z85: secretText)
    }

    /// The public key of this secret key.
    ///
    /// - Throws: ``ZMQError`` if libzmq was built without CURVE.
    package func publicKey() throws(ZMQError) -> BusKey {
        var (secretText, publicText) = ([CChar](repeating: 0, count: 41), [CChar](repeating: 0, count: 41))
        guard zmq_z85_encode(&secretText, bytes, bytes.count) != nil else { throw .last("zmq_z85_encode") }
        guard zmq_curve_public(&publicText, secretText) == 0 else { throw .last("zmq_curve_public") }
        return try BusKey(z85: publicText)
    }

    /// Reads a key.
    ///
    /// - Parameter text: 40 characters of Z85 and a zero byte, as libzmq writes keys.
    private init(z85 text: [CChar]) throws(ZMQError) {
        var bytes = [UInt8](repeating: 0, count: 32)
        guard zmq_z85_decode(&bytes, text) != nil else { throw .last("zmq_z85_decode") }
        self.bytes = bytes
    }
}
