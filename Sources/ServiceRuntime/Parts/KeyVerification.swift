import Cryptography
import Database
import EventLoop

/// Compares the key ring with the data before the service takes requests.
@Loop struct KeyVerification {
    let keys: KeyRing
    let database: Database
    let log: Log
    /// Returns another reason why the keys do not fit the data; `nil` if there is none.
    let misfit: @Loop () async throws -> String?

    /// Waits for the database and compares.
    ///
    /// - Returns: why the keys do not fit the data; `nil` if they fit.
    /// - Throws: `CancellationError`.
    func run() async throws -> String? {
        while true {
            do {
                try await KeyFingerprints.verify(keys, in: database)
                return try await misfit()
            } catch let mismatch as KeyFingerprints.Mismatch {
                return Self.text(of: mismatch)
            } catch DatabaseError.unavailable {
                try await Loop.sleep(for: .milliseconds(50))
            } catch {
                // For example, a table is missing. The log says why the service does not become ready.
                log.warning("keys_not_compared", ["error": .string(Log.name(of: error))])
                try await Loop.sleep(for: .seconds(1))
            }
        }
    }

    private static func text(of mismatch: KeyFingerprints.Mismatch) -> String {
        mismatch.isHashing
            ? "its hashes were made with another key than \(mismatch.id). Let the line of that key end with `hashes`, "
                + "and put new keys in front."
            : "the key \(mismatch.id) is not the one that they were written with. "
                + "Bring that key back, or use an empty database."
    }
}
