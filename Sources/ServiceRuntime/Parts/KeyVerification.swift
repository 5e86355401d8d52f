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
        try await untilAnswered("keys_not_compared", log: log) {
            do {
                try await KeyHashs.verify(keys, in: database)
                return try await misfit()
            } catch let mismatch as KeyHashs.Mismatch {
                return Self.text(of: mismatch)
            }
        }
    }

    private static func text(of mismatch: KeyHashs.Mismatch) -> String {
        mismatch.isHashing
            ? "its hashes were made with another key than \(mismatch.id). Let the line of that key end with `hashes`, "
                + "and put new keys in front."
            : "the key \(mismatch.id) is not the one that they were written with. "
                + "Bring that key back, or use an empty database."
    }
}

/// Calls a function until it returns. It waits for the database, and logs every other error.
///
/// - Parameter event: the name of the log entry.
/// - Throws: `CancellationError`.
@Loop func untilAnswered<Value: Sendable>(
    _ event: String, log: Log, _ body: @Loop () async throws -> Value
) async throws -> Value {
    while true {
        do {
            return try await body()
        } catch DatabaseError.unavailable {
            try await Loop.sleep(for: .milliseconds(50))
        } catch {
            // For example, a table is missing. The log says why the service does not become ready.
            log.warning(event, ["error": .string(Log.name(of: error))])
            try await Loop.sleep(for: .seconds(1))
        }
    }
}
