import BusProtocol
import Cryptography

/// The hashes of a phone number or an email address in auth's tables. Without auth's keys, nobody can find the contact
/// from them.
struct ContactHashes: Sendable {
    struct Lookup: Sendable, Equatable {
        let keyID: String
        let hash: [UInt8]
    }

    /// The hash under the permanent key: for limits, bars, locks, claims, and the reference that recovery keeps.
    ///
    /// After the look-up key was replaced, the row of an account's contact must not have this hash. Otherwise a copy of
    /// the database would undo the replacement.
    let lasting: [UInt8]
    /// The hashes under each live look-up key, in the key ring's order. They find the account.
    let lookups: [Lookup]
}

/// The keys for one kind of contact. Each kind has its own, so no hash of a number equals that of an address.
struct ContactKeys: Sendable {
    /// Hashes with the permanent key.
    let hash: KeyedHash
    /// Hash with each live look-up key.
    let lookups: [KeyedHash]
    let sealer: Sealer

    /// - Parameters:
    ///   - lookup: the purpose of the subkeys for hashes.
    ///   - seal: the purpose of the subkey for encryption.
    init(_ keys: KeyRing, lookup: String, seal: String) {
        hash = KeyedHash(keys, purpose: lookup)
        lookups = keys.lookups.map { KeyedHash(keys, purpose: lookup, keyID: $0.id) }
        sealer = Sealer(keys, purpose: seal)
    }

    /// - Parameter contact: ``Contact/text`` as UTF-8.
    func hashes(of contact: [UInt8]) -> ContactHashes {
        ContactHashes(
            lasting: hash.code(for: contact),
            lookups: lookups.map { .init(keyID: $0.keyID, hash: $0.code(for: contact)) })
    }

    /// - Parameters:
    ///   - sealed: a contact.
    ///   - owner: the challenge or the person for which it was sealed.
    func hashes(ofSealed sealed: [UInt8], for owner: Identifier) throws(SealError) -> ContactHashes {
        hashes(of: try open(sealed, for: owner))
    }

    func seal(_ contact: [UInt8], for owner: Identifier) -> [UInt8] {
        sealer.seal(contact, associated: owner.array)
    }

    func open(_ sealed: [UInt8], for owner: Identifier) throws(SealError) -> [UInt8] {
        try sealer.open(sealed, associated: owner.array)
    }
}

extension Secrets {
    func keys(of kind: Contact.Kind) -> ContactKeys {
        switch kind {
        case .phone: phones
        case .email: emails
        }
    }

    func hashes(of contact: Contact) -> ContactHashes { keys(of: contact.kind).hashes(of: Array(contact.text.utf8)) }

    /// The hash under which the codes to a mailbox are counted, however its address is spelled; `nil` for a phone. It
    /// outlives the account, and it cannot be used to find one.
    func mailboxHash(of contact: Contact) -> [UInt8]? {
        guard case .email(let address) = contact else { return nil }
        return limitHash.code(for: emails.hash.code(for: address.mailbox))
    }

    /// The hash that recognises the holder of a mailbox, however its address is spelled. It is `nil` for a phone, and
    /// if another spelling may be another person.
    ///
    /// - Parameter contact: ``Contact/text`` as UTF-8.
    func holderHash(of contact: [UInt8], _ kind: Contact.Kind) -> [UInt8]? {
        guard kind == .email, let address = EmailAddress(String(decoding: contact, as: UTF8.self)),
            address.isOneMailbox
        else { return nil }
        return mailboxHash(of: .email(address))
    }

    func hashes(of number: PhoneNumber) -> ContactHashes { hashes(of: .phone(number)) }

    /// - Parameters:
    ///   - sealed: a number.
    ///   - owner: the challenge or the person for which it was sealed.
    func hashes(ofSealed sealed: [UInt8], for owner: Identifier) throws(SealError) -> ContactHashes {
        try phones.hashes(ofSealed: sealed, for: owner)
    }

    /// - Parameter number: in E.164 form, as UTF-8.
    func hashes(of number: [UInt8]) -> ContactHashes { phones.hashes(of: number) }
}
