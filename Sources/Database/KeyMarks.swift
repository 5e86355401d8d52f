import BusProtocol
import Cryptography
import EventLoop

/// Holds a service's keys against its tables: with keys of another system nothing in them can be read, and nothing that
/// is written would be read by who has the right ones.
@Loop public enum KeyMarks {
    /// The ring has a key under the id of one that wrote here, and it is another.
    public struct Mismatch: Error, Equatable {
        public let id: String
        public init(id: String) { self.id = id }
    }

    /// Leaves a mark of each key that is new here, and compares the others with theirs.
    ///
    /// - Throws: ``Mismatch``, or ``DatabaseError``.
    public static func verify(_ keys: KeyRing, in database: Database) async throws {
        for key in keys.keys {
            // A subkey of its own: it says nothing of those that seal.
            guard let mark = keys.subkey(purpose: "mark", keyID: key.id) else { continue }
            let rows = try await database.write(Self.mark, [.text(key.id), .bytes(mark)])
            guard let known = try rows.first?.bytes("mark"), constantTimeEqual(known, mark) else {
                throw Mismatch(id: key.id)
            }
        }
    }

    private static let mark: Statement = """
        INSERT INTO key_marks AS k (id, mark) VALUES ($1, $2)
        ON CONFLICT (id) DO UPDATE SET mark = k.mark RETURNING mark
        """
}
