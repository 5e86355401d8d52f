import Database
import Documents
import EventLoop
import JSONText
import ServiceRuntime

/// The newest version of the library of fields. Each replica reads it again within five seconds.
@Loop final class PublishedLibraries {
    let documents: DocumentStore
    /// The version that was read last; the one of this release until then.
    private(set) var known: FieldLibrary.InUse
    private var knownHash: [UInt8]
    private let files: [DocumentFile<FieldLibraryDocument>]
    private let log: Log
    /// Whether the known version was the newest at most five seconds ago.
    private(set) var isFresh = false
    private var isImported = false
    /// The version that this release cannot read. It is logged once.
    private var unreadable: Int64?

    /// - Parameter files: the libraries that the replica has at its start.
    init(database: Database, files: [DocumentFile<FieldLibraryDocument>], log: Log) throws(DocumentError) {
        documents = DocumentStore(.library, database: database)
        known = try FieldLibrary.shipped.get()
        (self.files, self.log, knownHash) = (files, log, try FieldLibrary.shippedDocument.get().hash)
    }

    /// The newest version as it was at most five seconds ago.
    func current() async throws -> FieldLibrary.InUse {
        isFresh ? known : try await reread()
    }

    /// The newest version, read again if the known one lacks one of these fields.
    func current(having keys: [String]) async throws -> FieldLibrary.InUse {
        let library = try await current()
        return keys.allSatisfy { library.catalogue.field($0) != nil } ? library : try await reread()
    }

    /// Forgets that the known version is the newest, so that it is read again.
    func refresh() { isFresh = false }

    /// The newest version. If this release cannot read it, the known one stays in use.
    func reread() async throws -> FieldLibrary.InUse {
        try await importFiles()
        guard let newest = try await documents.newest(of: FieldLibraryDocument.key) else { return known }
        if newest.hash != knownHash, newest.version != unreadable,
            let stored = try await documents.stored(FieldLibraryDocument.key, version: newest.version)
        {
            do {
                known = try await Self.read(stored).use
                knownHash = stored.hash
            } catch let error as DocumentError {
                // A newer release published it.
                unreadable = stored.version
                log.error(
                    "library_not_readable",
                    ["version": .integer(stored.version), "problem": .string(error.description)])
            }
        }
        isFresh = true
        return known
    }

    /// The newest version as a transaction sees it.
    func newest(
        in transaction: Transaction
    ) async throws -> (document: FieldLibraryDocument, use: FieldLibrary.InUse) {
        guard let stored = try await documents.current(in: transaction).first else {
            throw DatabaseError.unreadable(column: "content")
        }
        return try await Self.read(stored)
    }

    private nonisolated static func read(
        _ stored: DocumentStore.StoredVersion
    ) async throws -> (document: FieldLibraryDocument, use: FieldLibrary.InUse) {
        let content = Array(stored.content.utf8)
        return try await Loop.compute {
            let document = try FieldLibraryDocument(content)
            return (document, try FieldLibrary.InUse(document))
        }
    }

    /// Offers the libraries of files. It comes before any plan is read.
    private func importFiles() async throws {
        guard !isImported else { return }
        for file in files {
            try await DocumentOffer(file, to: documents).start(log: log) { _ in
                try await Loop.compute { try FieldLibraryPublication.problems(ofFirst: file.document) }
            }
        }
        isImported = true
    }
}
