import BusProtocol
import Database
import Documents
import EventLoop
import ServiceRuntime

/// The versions of the stimulus set. A replica reads each of them once, and looks for a newer one every five seconds.
@Loop final class StimulusSets {
    let documents: DocumentStore
    private let log: Log
    /// The versions that were read. A version never changes, so one that this release cannot read stays `nil`.
    private var known: [Int64: StimulusSet?] = [:]
    private var inUse: StimulusSet?

    init(database: Database, log: Log) {
        (documents, self.log) = (DocumentStore(.stimuli, database: database), log)
    }

    /// Publishes the set of this release if there is none, or makes a draft of it if it is newer.
    func offerShipped() async throws {
        let document = try StimulusSet.shipped.get()
        try await DocumentOffer(DocumentFile(document, path: nil), to: documents).start(log: log) { _ in
            StimulusSetGate(document.file).problems
        }
    }

    /// The newest version that this release can read, as it was at most five seconds ago.
    func newest() async throws -> StimulusSet {
        if let inUse { return inUse }
        let newest = try await documents.database.transaction { transaction in
            for row in try await documents.rows(of: StimulusSetDocument.key, in: transaction) {
                if let set = try await version(row.version, in: transaction) { return set }
            }
            throw Self.unavailable
        }
        inUse = newest
        return newest
    }

    /// Forgets which version is the newest, so that it is looked for again.
    func refresh() { inUse = nil }

    /// A published version; `nil` if there is none, or if this release cannot read it.
    func version(_ version: Int64, in transaction: Transaction) async throws -> StimulusSet? {
        if let set = known[version] { return set }
        guard let stored = try await documents.stored(StimulusSetDocument.key, version: version, in: transaction)
        else { return nil }
        do {
            known[version] = try await Self.read(stored)
        } catch let error as DocumentError {
            // A newer release published it.
            known[version] = .some(nil)
            log.error("set_not_readable", ["version": .integer(version), "problem": .string(error.description)])
        }
        return known[version] ?? nil
    }

    nonisolated static func read(_ stored: DocumentStore.StoredVersion) async throws -> StimulusSet {
        let content = Array(stored.content.utf8)
        return try await Loop.compute { try StimulusSet(StimulusSetDocument(content)) }
    }

    /// A newer replica has begun the session.
    static let unavailable = BusError(
        .serviceUnavailable, "This part of the service is not available right now. Please try again.", executed: .no)
}
