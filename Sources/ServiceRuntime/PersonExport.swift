import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// One kind of thing that a service holds about people.
public struct ExportSection: Sendable {
    /// Opens what stands sealed in a row.
    public struct Sealed: Sendable {
        let open: @Sendable (_ sealed: [UInt8], _ person: Identifier) throws -> [String: JSONValue]

        /// - Parameter open: gives members of the record.
        public init(_ open: @escaping @Sendable ([UInt8], Identifier) throws -> [String: JSONValue]) {
            self.open = open
        }

        /// - Parameter open: gives the one member of this name.
        public init(_ member: String, _ open: @escaping @Sendable ([UInt8], Identifier) throws -> String) {
            self.open = { [member: .string(try open($0, $1))] }
        }
    }

    /// The member `kind` of its records.
    public let kind: String
    /// The columns with a person's id that it shows: `cases.account_id`.
    public let columns: [String]
    let statement: Statement
    let sealed: Sealed?
    let opening: (@Sendable (_ record: JSONValue, _ person: Identifier) throws -> JSONValue)?
    /// What `$1` stands for.
    let subject: @Loop @Sendable (Identifier, Transaction) async throws -> SQLValue

    /// - Parameters:
    ///   - columns: whose rows it shows. A table stands for its column `person_id`; it is then not exported and erased by
    ///     itself.
    ///   - rows: SQL with the person's id as `$1` and the columns `key` (text, unique, in the order of the export), `record`
    ///     (jsonb, an object) and, where something is to be opened, `sealed` (bytea).
    ///   - sealed: becomes members of the record where it is not NULL.
    public init(_ kind: String, of columns: [String], _ rows: String, sealed: Sealed? = nil) {
        self.init(kind, of: columns, rows, sealed: sealed, opening: nil) { person, _ in .uuid(person) }
    }

    /// - Parameters:
    ///   - rows: SQL as above, without `sealed`.
    ///   - opening: gives the record as the person shall have it.
    public init(
        _ kind: String, of columns: [String], _ rows: String,
        opening: @escaping @Sendable (JSONValue, Identifier) throws -> JSONValue
    ) {
        self.init(kind, of: columns, rows, sealed: nil, opening: opening) { person, _ in .uuid(person) }
    }

    /// - Parameters:
    ///   - rows: SQL as above, but for its `$1`.
    ///   - subject: what `$1` stands for.
    public init(
        _ kind: String, of columns: [String], _ rows: String, sealed: Sealed? = nil,
        subject: @escaping @Loop @Sendable (Identifier, Transaction) async throws -> SQLValue
    ) {
        self.init(kind, of: columns, rows, sealed: sealed, opening: nil, subject: subject)
    }

    private init(
        _ kind: String, of columns: [String], _ rows: String, sealed: Sealed?,
        opening: (@Sendable (JSONValue, Identifier) throws -> JSONValue)?,
        subject: @escaping @Loop @Sendable (Identifier, Transaction) async throws -> SQLValue
    ) {
        self.kind = kind
        self.columns = columns.map { $0.contains(".") ? $0 : "\($0).person_id" }
        statement = Statement(
            """
            SELECT key, record, \(sealed == nil ? "NULL::bytea AS sealed" : "sealed") FROM (\(rows)) AS rows
            WHERE key COLLATE "C" > $2 ORDER BY key COLLATE "C" LIMIT $3
            """)
        self.sealed = sealed
        self.opening = opening
        self.subject = subject
    }

    /// The tables of its columns.
    var tables: [String] { columns.map { String($0.prefix { $0 != "." }) } }

    /// The person's own audit trail.
    public static func audit(_ trail: AuditTrail) -> ExportSection {
        ExportSection(
            "act", of: ["pseudonyms"],
            """
            SELECT lpad(sequence::text, 19, '0') AS key,
                jsonb_build_object('act', act, 'at', \(time("at")), 'details', details::jsonb) AS record
            FROM audit WHERE chain = $1 AND chain <> 'service'
            """
        ) { person, transaction in .text(try await trail.chain(of: person, in: transaction).name) }
    }

    /// A `timestamptz` as the public API writes it.
    public static func time(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    }
}

/// Everything that a service holds about a person, page by page: what its sections describe, then every other table of its
/// schema with a column `person_id`.
@Loop public struct PersonExport {
    private let database: Database
    private let sections: [ExportSection]

    /// - Parameter sections: of the tables that are not exported as they are.
    public nonisolated init(database: Database, sections: [ExportSection]) {
        (self.database, self.sections) = (database, sections)
    }

    /// - Parameters:
    ///   - cursor: the ``ExportPage/next`` of the page before.
    ///   - check: throws where the person may not have it.
    public func page(
        of person: Identifier, after cursor: String?,
        check: @Loop (Transaction) async throws -> Void
    ) async throws -> ExportPage {
        // A connection of its own: the one for reads is not kept waiting by a long list.
        try await database.transaction { transaction in
            try await check(transaction)
            return try await page(of: person, from: Place(cursor), in: transaction)
        }
    }

    private struct Place {
        var section = 0
        var key = ""

        init(_ cursor: String?) {
            guard let cursor, let colon = cursor.firstIndex(of: ":"), let section = Int(cursor[..<colon]) else {
                return
            }
            (self.section, key) = (section, String(cursor[cursor.index(after: colon)...]))
        }

        var cursor: String { "\(section):\(key)" }
    }

    private func page(
        of person: Identifier, from start: Place, in transaction: Transaction
    ) async throws -> ExportPage {
        let sections = sections + (try await PersonTable.all(besides: sections, in: transaction)).map(\.section)
        var (place, records, bytes) = (start, [String](), 0)
        while sections.indices.contains(place.section) {
            let section = sections[place.section]
            let subject = try await section.subject(person, transaction)
            let rows = try await transaction.query(
                section.statement, [subject, .text(place.key), .integer(Int64(ExportPage.mostRecords))])
            for row in rows {
                let record = try Self.record(row, of: section, person)
                bytes += record.utf8.count
                guard records.isEmpty || bytes <= ExportPage.budget && records.count < ExportPage.mostRecords else {
                    return ExportPage(records: records, next: place.cursor)
                }
                records.append(record)
                place.key = try row.text("key")
            }
            if rows.count < ExportPage.mostRecords { (place.section, place.key) = (place.section + 1, "") }
        }
        return ExportPage(records: records, next: nil)
    }

    /// The row's own text with two members before it; it is read only where something in it is to be opened.
    private static func record(_ row: Row, of section: ExportSection, _ person: Identifier) throws -> String {
        var members: [String: JSONValue] = ["kind": .string(section.kind)]
        if let sealed = section.sealed, let bytes = try row.optionalBytes("sealed") {
            members.merge(try sealed.open(bytes, person)) { $1 }
        }
        let head = String(decoding: CanonicalJSON.bytes(of: .object(members)), as: UTF8.self)
        var text = try row.json("record")
        if let opening = section.opening {
            text = CanonicalJSON.bytes(of: try opening(try JSONValue.parse(text), person))
        }
        let rest = String(decoding: text, as: UTF8.self)
        return rest == "{}" ? head : "\(head.dropLast()), \(rest.dropFirst())"
    }
}
