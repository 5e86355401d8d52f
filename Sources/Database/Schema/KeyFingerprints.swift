import Cryptography
import EventLoop
import Values

/// Holds a service's keys against its tables: with keys of another system nothing in them can be read, and nothing that
/// is written would be read by who has the right ones.
@Loop public enum KeyFingerprints {
    /// The ring has a key under the id of one that wrote here, and it is another; or the key that hashes is not the one
    /// with which the hashes in here were made.
    public struct Mismatch: Error, Equatable {
        public let id: String
        public let isHashing: Bool
        public init(id: String, isHashing: Bool = false) { (self.id, self.isHashing) = (id, isHashing) }
    }

    /// Under this name stands the mark of the key of hashes; no key's id has a space.
    private static let hashes = "of hashes"

    /// Leaves a mark of each key that is new here and of the one that hashes, and compares the others with theirs.
    ///
    /// - Throws: ``Mismatch``, or ``DatabaseError``.
    public static func verify(_ keys: KeyRing, in database: Database) async throws {
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
        // A subkey of its own: it says nothing of those that seal.
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
