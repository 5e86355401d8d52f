import BusProtocol
import Cryptography
import JSONText

/// The keyed hashes and sealers of auth's secrets, each with a subkey of its own.
struct Secrets: Sendable {
    let phones: ContactKeys
    let emails: ContactKeys
    /// Hashes the hash of a contact, for limits that go on after its account is deleted.
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
        phones = ContactKeys(keys, lookup: "phone-lookup", seal: "phone")
        emails = ContactKeys(keys, lookup: "email-lookup", seal: "email")
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

    /// The ids of the live look-up keys, in the key ring's order.
    var lookupKeys: [String] { phones.lookups.map(\.keyID) }

    /// Hashes numbers with the permanent key.
    var phoneHash: KeyedHash { phones.hash }
    var phoneSealer: Sealer { phones.sealer }

    func hash(of token: String) -> [UInt8] { tokenHash.code(for: token) }

    /// The hash of issuer and subject, by which an identity is found.
    func hash(of identity: ProvenIdentity) -> [UInt8] { hash(ofIssuer: identity.issuer, subject: identity.subject) }

    func hash(ofIssuer issuer: String, subject: String) -> [UInt8] { identityHash.code(for: "\(issuer)\n\(subject)") }

    /// The sealed identity for its row.
    func seal(_ identity: ProvenIdentity) throws -> [UInt8] {
        identitySealer.seal(try WireJSON.encode(identity), associated: hash(of: identity))
    }

    /// - Parameter hash: of the identity.
    func identity(_ sealed: [UInt8], hash: [UInt8]) throws -> ProvenIdentity {
        try WireJSON.decode(ProvenIdentity.self, from: try identitySealer.open(sealed, associated: hash))
    }

    /// The hash of a code. It includes the challenge and the contact, so a code never fits another challenge.
    ///
    /// - Parameter contact: the lasting hash of the phone or the address.
    func hash(ofCode code: String, challenge: Identifier, contact: [UInt8]) -> [UInt8] {
        codeHash.code(for: challenge.array + contact + code.utf8)
    }

    /// The hash of the account that a challenge for a recovery names. It can only be compared: it finds no account.
    ///
    /// - Parameter reference: of what names the account.
    func hash(ofAccount reference: String, challenge: Identifier) -> [UInt8] {
        namedAccountHash.code(for: challenge.array + reference.utf8)
    }

    /// The reference by which another service knows a number, an address or an identity. It is always the same, and
    /// useless without auth's key.
    ///
    /// - Parameter hash: the lasting hash of the number or the address, or the identity's hash.
    func reference(of hash: [UInt8]) -> String { Base64URL.encode(referenceHash.code(for: hash)) }
}
