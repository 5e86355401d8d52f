import Cryptography
import EventLoop
import Values

/// Checks that a service's keys belong to its tables.
///
/// With another system's keys, the service could not read its tables. Processes with the right keys could not read what
/// it would write.
@Loop package enum KeyHashs {
    /// The ring has another key under an ID that was used here, or the hash key differs from the one that made the
    /// hashes here.
    package struct Mismatch: Error, Equatable {
        /// The ID of the key.
        package let id: String
        /// Whether it is the hash key.
        package let isHashing: Bool
        /// Takes the ID of the key, and whether it is the hash key.
        package init(id: String, isHashing: Bool = false) { (self.id, self.isHashing) = (id, isHashing) }
    }

    /// The name of the fingerprint of the hash key. An ID of a key contains no space.
    private static let hashes = "of hashes"

    /// Stores a fingerprint of each new key and of the hash key, and compares the others with the stored fingerprints.
    ///
    /// - Throws: ``Mismatch`` or ``DatabaseError``.
    package static func verify(_ keys: KeyRing, in database: Database) async throws {
        for key in keys.keys {
            guard try await isKnown(key, as: key.id, keys, in: database) else { throw Mismatch(id: key.id) }
        }
        guard try await isKnown(keys.hashing, as: hashes, keys, in: database) else {
            throw Mismatch(id: keys.hashing.id, isHashing: true)
        }
    }

    private static func isKnown(
        _ key: KeyRing.Key, as name: String, _ keys: KeyRing, in database: Database
    ) async throws -> Bool {
        // A separate subkey makes the fingerprint, so it reveals nothing about the encryption keys.
        guard let mark = keys.subkey(purpose: "mark", keyID: key.id) else { return false }
        let rows = try await database.write(Self.mark, [.text(name), .bytes(mark)])
        guard let known = try rows.first?.bytes("mark") else { return false }
        return constantTimeEqual(known, mark)
    }

    private static let mark: Statement = """
        INSERT INTO key_marks AS k (id, mark) VALUES ($1, $2)
        ON CONFLICT (id) DO UPDATE SET mark = k.mark RETURNING mark
        """
}
