import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// Reads and writes the published versions of one kind of document.
@Loop package final class DocumentStore {
    /// The kind of document.
    package let kind: DocumentKind
    /// The database of the service.
    package let database: Database
    private let sql: DocumentStatements

    /// Takes the database that has the tables of the kind.
    package init(_ kind: DocumentKind, database: Database) {
        (self.kind, self.database, sql) = (kind, database, DocumentStatements(kind))
    }

    /// A published version.
    package struct StoredVersion: Sendable {
        /// The key of the document.
        package let key: String
        /// The number of the version.
        package let version: Int64
        /// SHA-256 of its content: 32 bytes.
        package let hash: [UInt8]
        /// The form of RFC 8785.
        package let content: String
        /// When it was published.
        package let publishedAt: Timestamp

        fileprivate init(_ row: Row) throws {
            key = try row.text("key")
            version = try row.integer("version")
            hash = try row.bytes("content_hash")
            content = try row.text("content")
            publishedAt = try row.timestamp("published_at")
        }
    }

    /// A published version without its content.
    package struct VersionRow: Sendable {
        /// The number of the version.
        package let version: Int64
        /// SHA-256 of its content: 32 bytes.
        package let hash: [UInt8]
        /// When it was published.
        package let publishedAt: Timestamp
        /// When it was retired.
        package let retiredAt: Timestamp?
        /// Whether it is the newest that is not retired.
        package let isCurrent: Bool
    }

    /// A draft with its content.
    package struct StoredDraft: Sendable {
        /// The number of the draft, from 1.
        package let number: Int64
        /// Goes up with every change.
        package let revision: Int64
        /// The version that the draft was copied from at first.
        package let copyOf: Int64?
        /// The version that was published from it.
        package let publishedAs: Int64?
        /// When it was last changed.
        package let updatedAt: Timestamp
        /// The document so far. It may have errors.
        package let content: JSONValue

        fileprivate init(_ row: Row) throws {
            number = try row.integer("number")
            revision = try row.integer("revision")
            copyOf = try row.optionalInteger("copy_of")
            publishedAs = try row.optionalInteger("published_as")
            updatedAt = try row.timestamp("updated_at")
            content = try DocumentText.value(try row.text("content"))
        }
    }

    // MARK: Reading versions

    /// For each document, the newest version that is not retired, in the order of keys.
    package func current() async throws -> [StoredVersion] {
        try await database.read(sql.newest, [.text(nil)]).map(StoredVersion.init)
    }

    /// For each document, the newest version that is not retired, as a transaction sees it.
    package func current(in transaction: Transaction) async throws -> [StoredVersion] {
        try await transaction.query(sql.newest, [.text(nil)]).map(StoredVersion.init)
    }

    /// A published version.
    ///
    /// - Parameter version: `nil` for the newest that is not retired.
    package func stored(_ key: String, version: Int64?) async throws -> StoredVersion? {
        let values: [SQLValue] = [.text(key)] + (version.map { [.integer($0)] } ?? [])
        return try await database.read(version == nil ? sql.newest : sql.one, values).first.map(StoredVersion.init)
    }

    /// A published version, as a transaction sees it.
    package func stored(_ key: String, version: Int64, in transaction: Transaction) async throws -> StoredVersion? {
        try await transaction.query(sql.one, [.text(key), .integer(version)]).first.map(StoredVersion.init)
    }

    /// The newest version that is not retired, without its content.
    package func newest(of key: String) async throws -> (version: Int64, hash: [UInt8])? {
        try await database.read(sql.newestHash, [.text(key)]).first.map {
            (try $0.integer("version"), try $0.bytes("content_hash"))
        }
    }

    /// The content of a version.
    package func version(_ number: Int64, of key: String) async throws -> JSONValue? {
        try await stored(key, version: number).map { try DocumentText.value($0.content) }
    }

    /// The text of the version with a hash.
    package func content(_ hash: [UInt8]) async throws -> [UInt8]? {
        try await database.read(sql.load, [.bytes(hash)]).first.map { Array(try $0.text("content").utf8) }
    }

    /// The contents of all published versions, the oldest first.
    package func versions(of key: String, in transaction: Transaction) async throws -> [JSONValue] {
        try await transaction.query(sql.contents, [.text(key), .integer(.max)]).map {
            try DocumentText.value(try $0.text("content"))
        }
    }

    /// The versions, the newest first, at most 10,000.
    package func rows(of key: String, in transaction: Transaction) async throws -> [VersionRow] {
        let rows = try await transaction.query(sql.rows, [.text(key)])
        let current = try rows.first { try $0.optionalTimestamp("retired_at") == nil }?.integer("version")
        return try rows.map { row in
            let version = try row.integer("version")
            return VersionRow(
                version: version, hash: try row.bytes("content_hash"), publishedAt: try row.timestamp("published_at"),
                retiredAt: try row.optionalTimestamp("retired_at"), isCurrent: version == current)
        }
    }

    // MARK: Publishing

    /// Waits until no other transaction publishes. Other transactions then wait until this one ends.
    ///
    /// Replicas that start together take turns. A replica that waits for too long tries again a second later.
    func waitForTurn(in transaction: Transaction) { transaction.send(sql.publishing) }

    /// The hash of the published version with a document's key and number; `nil` if there is none.
    func hash(of document: some VersionedDocument, in transaction: Transaction) async throws -> [UInt8]? {
        try await stored(document.key, version: document.version, in: transaction)?.hash
    }

    /// The texts of the versions before a document's version, the oldest first.
    func contents(before document: some VersionedDocument, in transaction: Transaction) async throws -> [[UInt8]] {
        try await transaction.query(sql.contents, [.text(document.key), .integer(document.version)]).map {
            Array(try $0.text("content").utf8)
        }
    }

    func insert(_ document: some VersionedDocument, in transaction: Transaction) {
        let content = String(decoding: document.canonicalText, as: UTF8.self)
        transaction.send(
            sql.insert, [.text(document.key), .integer(document.version), .bytes(document.hash), .text(content)])
    }

    /// Retires a version, if the kind has retirements. A repeated call changes nothing.
    func retire(_ version: Int64, of key: String, in transaction: Transaction) {
        guard let retire = sql.retire else { return }
        transaction.send(retire, [.text(key), .integer(version)])
    }

    // MARK: Drafts

    /// A draft that was not deleted.
    func find(_ number: Int64, of key: String) async throws -> StoredDraft? {
        try await database.read(sql.findDraft, [.text(key), .integer(number)]).first.map(StoredDraft.init)
    }

    /// The draft, locked until the transaction ends.
    func locked(_ number: Int64, of key: String, in transaction: Transaction) async throws -> StoredDraft? {
        try await transaction.query(sql.lockDraft, [.text(key), .integer(number)]).first.map(StoredDraft.init)
    }

    /// Creates a draft with the next number.
    ///
    /// - Parameter copyOf: the version that the draft is a copy of.
    package func create(
        _ content: JSONValue, copyOf: Int64?, of key: String, in transaction: Transaction
    ) async throws -> StoredDraft {
        // Concurrent calls wait for each other, so that each draft gets its own number.
        transaction.send(sql.numbering, [.text(key)])
        return try await written(sql.createDraft, [.text(key), text(content), .integer(copyOf)], in: transaction)
    }

    /// The number of a draft with exactly this content; `nil` if there is none.
    func draft(with content: JSONValue, of key: String, in transaction: Transaction) async throws -> Int64? {
        try await transaction.query(sql.sameDraft, [.text(key), text(content)]).first?.integer("number")
    }

    func replace(
        _ number: Int64, of key: String, by content: JSONValue, in transaction: Transaction
    ) async throws -> StoredDraft {
        try await written(sql.replaceDraft, [.text(key), .integer(number), text(content)], in: transaction)
    }

    /// Whether a draft with this number was deleted.
    func wasDeleted(_ number: Int64, of key: String, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(sql.findDeleted, [.text(key), .integer(number)]).isEmpty
    }

    /// Deletes the content of a draft. It keeps the number, so that no other draft gets it.
    func delete(_ number: Int64, of key: String, in transaction: Transaction) {
        transaction.send(sql.deleteDraft, [.text(key), .integer(number)])
    }

    /// Publishes the draft as a version.
    func publish(_ draft: Int64, as document: some VersionedDocument, in transaction: Transaction) {
        insert(document, in: transaction)
        transaction.send(sql.markPublished, [.text(document.key), .integer(draft), .integer(document.version)])
    }

    /// The drafts of a document, the newest first, at most 1,000.
    package func drafts(of key: String, in transaction: Transaction) async throws -> [DraftSummary] {
        try await transaction.query(sql.drafts, [.text(key)]).map { row in
            DraftSummary(
                number: try row.integer("number"), revision: try row.integer("revision"),
                from: try row.optionalInteger("copy_of"), publishedAs: try row.optionalInteger("published_as"),
                updatedAt: try row.timestamp("updated_at"))
        }
    }

    private func written(
        _ statement: Statement, _ values: [SQLValue], in transaction: Transaction
    ) async throws -> StoredDraft {
        guard let row = try await transaction.query(statement, values).first else { throw DatabaseError.aborted }
        return try StoredDraft(row)
    }

    private func text(_ content: JSONValue) -> SQLValue {
        .text(String(decoding: CanonicalJSON.bytes(of: content), as: UTF8.self))
    }
}
