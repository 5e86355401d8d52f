import BusProtocol
import Cryptography
import Database

/// Tokens of recovery: random, told by their prefix, kept as keyed hashes.
struct RecoverySecrets: Sendable {
    private let tokenHash: KeyedHash
    private let requestHash: KeyedHash
    private let addressHash: KeyedHash

    init(_ keys: KeyRing) {
        tokenHash = KeyedHash(keys, purpose: "recovery-token")
        requestHash = KeyedHash(keys, purpose: "recovery-request")
        addressHash = KeyedHash(keys, purpose: "client-address")
    }

    func hash(of token: String) -> [UInt8] { tokenHash.code(for: token) }
    /// Follows from the key, whose it is, and the whole body.
    func caseID(of request: InboxRequest) -> Identifier {
        .derived(from: requestHash.code(for: Array("\(request.scope)\n\(request.key)\n".utf8) + request.body))
    }
    func hash(ofAddress address: String) -> [UInt8] { addressHash.code(for: address) }
}
