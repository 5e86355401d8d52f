import BusProtocol
import Cryptography
import ProcessRuntime

/// Tokens of recovery: random, told by their prefix, kept as keyed hashes.
struct RecoverySecrets: Sendable {
    private let tokenHash: KeyedHash
    private let requestHash: KeyedHash
    private let addressHash: KeyedHash
    /// Of what an owner is told of a claim.
    let factsSealer: Sealer
    /// Of a claimant's reason and evidence, and of what reviewers write.
    let evidenceSealer: Sealer

    init(_ keys: KeyRing) {
        tokenHash = KeyedHash(keys, purpose: "recovery-token")
        requestHash = KeyedHash(keys, purpose: "recovery-request")
        addressHash = KeyedHash(keys, purpose: "client-address")
        factsSealer = Sealer(keys, purpose: "claim-facts")
        evidenceSealer = Sealer(keys, purpose: "evidence")
    }

    func hash(of token: String) -> [UInt8] { tokenHash.code(for: token) }
    /// Follows from the key, whose it is, and the whole body.
    func caseID(scope: String, key: String, body: [UInt8]) -> Identifier {
        .derived(from: requestHash.code(for: Array("\(scope)\n\(key)\n".utf8) + body))
    }
    func origin(of address: String?) -> ClientOrigin { ClientOrigin(address, hash: addressHash) }
}
