import BusProtocol
import Cryptography
import JSONText

/// Everything secret that auth makes or looks up, each under a subkey of its own.
struct Secrets: Sendable {
    /// Of a number, with the key that stays.
    let phoneHash: KeyedHash
    /// Of a number, with each look-up key that is alive.
    let lookupHashes: [KeyedHash]
    let phoneSealer: Sealer
    /// Of a phone's hash, for what goes on counting after its account is gone.
    let limitHash: KeyedHash
    let addressHash: KeyedHash
    let prefixHash: KeyedHash
    let pushSealer: Sealer
    let keySealer: Sealer
    let answerSealer: Sealer
    let identityHash: KeyedHash
    let identitySealer: Sealer
    let refreshSealer: Sealer
    let noteSealer: Sealer
    let freezeSealer: Sealer
    private let codeHash: KeyedHash
    private let namedAccountHash: KeyedHash
    private let tokenHash: KeyedHash
    private let referenceHash: KeyedHash

    init(_ keys: KeyRing) {
        phoneHash = KeyedHash(keys, purpose: "phone-lookup")
        lookupHashes = keys.lookups.map { KeyedHash(keys, purpose: "phone-lookup", keyID: $0.id) }
        phoneSealer = Sealer(keys, purpose: "phone")
        limitHash = KeyedHash(keys, purpose: "phone-limits")
        addressHash = KeyedHash(keys, purpose: "client-address")
        prefixHash = KeyedHash(keys, purpose: "destination-prefix")
        pushSealer = Sealer(keys, purpose: "push-token")
        keySealer = Sealer(keys, purpose: "signing-key")
        answerSealer = Sealer(keys, purpose: "refresh-answer")
        identityHash = KeyedHash(keys, purpose: "identity-lookup")
        identitySealer = Sealer(keys, purpose: "identity")
        refreshSealer = Sealer(keys, purpose: "provider-refresh")
        noteSealer = Sealer(keys, purpose: "staff-note")
        freezeSealer = Sealer(keys, purpose: "freeze")
        codeHash = KeyedHash(keys, purpose: "otp")
        namedAccountHash = KeyedHash(keys, purpose: "otp-account")
        tokenHash = KeyedHash(keys, purpose: "token")
        referenceHash = KeyedHash(keys, purpose: "phone-reference")
    }

    /// The ids of the look-up keys that are alive, in the ring's order.
    var lookupKeys: [String] { lookupHashes.map(\.keyID) }

    func hash(of token: String) -> [UInt8] { tokenHash.code(for: token) }

    /// What an identity is found by: its issuer and subject.
    func hash(of identity: ProvenIdentity) -> [UInt8] { hash(ofIssuer: identity.issuer, subject: identity.subject) }

    func hash(ofIssuer issuer: String, subject: String) -> [UInt8] { identityHash.code(for: "\(issuer)\n\(subject)") }

    /// What is known of an identity, for its row.
    func seal(_ identity: ProvenIdentity) throws -> [UInt8] {
        identitySealer.seal(try WireJSON.encode(identity), associated: hash(of: identity))
    }

    /// - Parameter hash: of the identity.
    func identity(_ sealed: [UInt8], hash: [UInt8]) throws -> ProvenIdentity {
        try WireJSON.decode(ProvenIdentity.self, from: try identitySealer.open(sealed, associated: hash))
    }

    /// Bound to its challenge and its phone: a code of another challenge never fits.
    func hash(ofCode code: String, challenge: Identifier, phone: [UInt8]) -> [UInt8] {
        codeHash.code(for: challenge.array + phone + code.utf8)
    }

    /// What a challenge for a recovery keeps of the account that it names: nothing is found by it.
    ///
    /// - Parameter reference: of the account's number.
    func hash(ofAccount reference: String, challenge: Identifier) -> [UInt8] {
        namedAccountHash.code(for: challenge.array + reference.utf8)
    }

    /// What another service may know of a number: the same each time, and of no use without auth's key.
    func reference(ofPhoneHash hash: [UInt8]) -> String { Base64URL.encode(referenceHash.code(for: hash)) }
}
