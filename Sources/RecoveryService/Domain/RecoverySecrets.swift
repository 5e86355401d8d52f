import BusProtocol
import Cryptography
import ProcessRuntime

/// The tokens of recovery. They are random, have a prefix for their kind, and are stored as keyed hashes.
struct RecoverySecrets: Sendable {
    private let tokenHash: KeyedHash
    private let requestHash: KeyedHash
    private let addressHash: KeyedHash
    /// Seals the facts about a claim that its owner gets.
    let factsSealer: Sealer
    /// Seals a claimant's reason and evidence, and the notes of reviewers.
    let evidenceSealer: Sealer

    init(_ keys: KeyRing) {
        tokenHash = KeyedHash(keys, purpose: "recovery-token")
        requestHash = KeyedHash(keys, purpose: "recovery-request")
        addressHash = KeyedHash(keys, purpose: "client-address")
        factsSealer = Sealer(keys, purpose: "claim-facts")
        evidenceSealer = Sealer(keys, purpose: "evidence")
    }

    func hash(of token: String) -> [UInt8] { tokenHash.code(for: token) }
    /// The id of the case that a request opens. It depends on the idempotency key, its scope and the body.
    func caseID(scope: String, key: String, body: [UInt8]) -> Identifier {
        .derived(from: requestHash.code(for: Array("\(scope)\n\(key)\n".utf8) + body))
    }
    func origin(of address: String?) -> ClientOrigin { ClientOrigin(address, hash: addressHash) }
}
