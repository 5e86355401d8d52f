import Foundation

/// The keys of one service, the current one first. Each purpose uses a subkey, never a key itself.
///
/// Encrypted bytes name their key. A new key goes first in the ring and encrypts from then on.
///
/// Hashes do not name their key, so their key must stay. It is the key whose line has the word `hashes`, or else the
/// last key.
///
/// Look-ups of people use hashes whose keys can change. They use the keys with the word `lookup`, or else the key of
/// hashes.
package struct KeyRing: Sendable {
    /// A key with its ID.
    package struct Key: Sendable {
        /// The ID of the key.
        package let id: String
        let secret: [UInt8]
    }

    /// Why a text is not a key ring.
    package enum ParseError: Error, Sendable, CustomStringConvertible {
        case empty, malformedLine(Int), shortKey(Int), repeatedID(Int), severalOfHashes
        case severalLookups

        package var description: String {
            switch self {
            case .empty: "the key ring has no key"
            case .malformedLine(let line):
                "line \(line) of the key ring is not `id base64` with or without `lookup` and `hashes`"
            case .severalOfHashes: "more than one line of the key ring has the word `hashes`"
            case .severalLookups: "more than two lines of the key ring have the word `lookup`"
            case .shortKey(let line): "the key in line \(line) of the key ring has fewer than 32 bytes"
            case .repeatedID(let line): "the id in line \(line) of the key ring stands there twice"
            }
        }
    }

    /// All keys, the current key first.
    package let keys: [Key]
    /// The key that encrypts.
    package let current: Key
    /// The key of hashes.
    package let hashing: Key
    /// The keys for look-ups of people: one key, or two while one replaces the other.
    package let lookups: [Key]

    /// Reads a key ring.
    ///
    /// - Parameter contents: a line `id base64` per key, the current key first, at least 32 bytes each. One line may
    ///   end with the word `hashes`, and two with `lookup`. A key with only the word `lookup` neither encrypts nor
    ///   makes other hashes. So an operator can remove it later.
    package init(contents: String) throws(ParseError) {
        var (keys, sealing, hashing, lookups) = ([Key](), [Key](), Key?.none, [Key]())
        for (index, line) in contents.split(separator: "\n").enumerated() {
            let parts = line.split(separator: " ")
            let words = parts.dropFirst(2)
            guard parts.count >= 2, Set(words).count == words.count, Set(words).isSubset(of: ["hashes", "lookup"]),
                (1...32).contains(parts[0].utf8.count),
                let secret = Data(base64Encoded: String(parts[1]))
            else { throw .malformedLine(index + 1) }
            guard secret.count >= 32 else { throw .shortKey(index + 1) }
            let id = String(parts[0])
            guard !keys.contains(where: { $0.id == id }) else { throw .repeatedID(index + 1) }
            let key = Key(id: id, secret: [UInt8](secret))
            keys.append(key)
            if words != ["lookup"] { sealing.append(key) }
            if words.contains("lookup") { lookups.append(key) }
            guard words.contains("hashes") else { continue }
            guard hashing == nil else { throw .severalOfHashes }
            hashing = key
        }
        guard let first = sealing.first, let last = sealing.last else { throw .empty }
        guard lookups.count <= 2 else { throw .severalLookups }
        (self.keys, current) = (keys, first)
        self.hashing = hashing ?? last
        self.lookups = lookups.isEmpty ? [self.hashing] : lookups
    }

    /// A ring with one new random key, as a text.
    package static func generate(id: String) -> String { "\(id) \(Data(RandomBytes.make(32)).base64EncodedString())\n" }

    /// A subkey of 32 bytes for one purpose, from the current key or from the named one. It is `nil` if the ring does
    /// not have that key.
    package func subkey(purpose: String, keyID: String? = nil) -> [UInt8]? {
        guard let key = keyID == nil ? current : keys.first(where: { $0.id == keyID }) else { return nil }
        return HKDF.derive(key: key.secret, info: Array("vestibule/\(purpose)".utf8), length: 32)
    }
}

/// Encrypts bytes for one purpose of a key ring. The result names the key.
package struct Sealer: Sendable {
    private let subkeys: [String: [UInt8]]
    private let currentID: String

    /// Takes the key ring and the purpose.
    package init(_ ring: KeyRing, purpose: String) {
        currentID = ring.current.id
        subkeys = Dictionary(
            uniqueKeysWithValues: ring.keys.map { key in
                (key.id, ring.subkey(purpose: purpose, keyID: key.id) ?? [])
            })
    }

    /// Encrypts.
    ///
    /// - Parameter associated: the row that the bytes belong to.
    package func seal(_ bytes: [UInt8], associated: [UInt8]) -> [UInt8] {
        let id = Array(currentID.utf8)
        return [UInt8(id.count)] + id + AESGCM.seal(bytes, key: subkeys[currentID] ?? [], associated: associated)
    }

    /// Decrypts.
    ///
    /// - Throws: ``SealError/unknownKey`` if the ring no longer has the key, otherwise ``SealError/cannotOpen``.
    package func open(_ sealed: [UInt8], associated: [UInt8]) throws(SealError) -> [UInt8] {
        guard let length = sealed.first, sealed.count > Int(length) else { throw .cannotOpen }
        let id = String(decoding: sealed[1..<(1 + Int(length))], as: UTF8.self)
        guard let key = subkeys[id] else { throw .unknownKey }
        return try AESGCM.open(Array(sealed.dropFirst(1 + Int(length))), key: key, associated: associated)
    }
}

/// Hashes a secret or a number so that it may be stored in the database: an HMAC for one purpose of a key ring.
package struct KeyedHash: Sendable {
    private let key: [UInt8]
    /// The ID of the key in the ring.
    package let keyID: String

    /// - Parameter keyID: a key of the ring; by default the key of hashes.
    package init(_ ring: KeyRing, purpose: String, keyID: String? = nil) {
        self.keyID = keyID ?? ring.hashing.id
        key = ring.subkey(purpose: purpose, keyID: self.keyID) ?? []
    }

    /// The hash of some bytes: 32 bytes.
    package func code(for bytes: [UInt8]) -> [UInt8] { HMACSHA256.code(for: bytes, key: key) }
    /// The hash of a text in UTF-8: 32 bytes.
    package func code(for text: String) -> [UInt8] { code(for: Array(text.utf8)) }
}
