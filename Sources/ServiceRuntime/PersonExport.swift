import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// One kind of record that a service exports about a person.
package struct ExportSection: Sendable {
    /// Decrypts the sealed column of a row.
    package struct Sealed: Sendable {
        let open: @Sendable (_ sealed: [UInt8], _ person: Identifier) throws -> [String: JSONValue]

        /// - Parameter open: decrypts the bytes, and returns members of the record.
        package init(_ open: @escaping @Sendable ([UInt8], Identifier) throws -> [String: JSONValue]) {
            self.open = open
        }

        /// - Parameters:
        ///   - member: the name of the only member.
        ///   - open: decrypts the bytes, and returns the value of that member.
        package init(_ member: String, _ open: @escaping @Sendable ([UInt8], Identifier) throws -> String) {
            self.open = { [member: .string(try open($0, $1))] }
        }
    }

    /// The value of the member `kind` in each record.
    package let kind: String
    /// The columns with the person's ID whose rows this section exports, such as `cases.account_id`.
    package let columns: [String]
    let statement: Statement
    let sealed: Sealed?
    let opening: (@Sendable (_ record: JSONValue, _ person: Identifier) throws -> JSONValue)?
    /// Returns the value of `$1` for a person.
    let subject: @Loop @Sendable (Identifier, Transaction) async throws -> SQLValue

    /// Exports rows that are selected by the person's ID.
    ///
    /// - Parameters:
    ///   - columns: the columns with the person's ID whose rows are exported. The name of a table alone means its
    ///     column `person_id`. The runtime no longer exports and erases the tables of these columns by itself.
    ///   - rows: SQL with the person's ID as `$1`. Its columns are `key` (text, unique, in the order of the export),
    ///     `record` (jsonb, an object) and, if there is something to decrypt, `sealed` (bytea).
    ///   - sealed: decrypts `sealed` into members of the record, unless it is NULL.
    package init(_ kind: String, of columns: [String], _ rows: String, sealed: Sealed? = nil) {
        self.init(kind, of: columns, rows, sealed: sealed, opening: nil) { person, _ in .uuid(person) }
    }

    /// Exports rows, and changes their records before the person gets them.
    ///
    /// - Parameters:
    ///   - rows: SQL as above, without `sealed`.
    ///   - opening: returns the record as the person gets it.
    package init(
        _ kind: String, of columns: [String], _ rows: String,
        opening: @escaping @Sendable (JSONValue, Identifier) throws -> JSONValue
    ) {
        self.init(kind, of: columns, rows, sealed: nil, opening: opening) { person, _ in .uuid(person) }
    }

    /// Exports rows that are selected by another value than the person's ID.
    ///
    /// - Parameters:
    ///   - rows: SQL as above, except for its `$1`.
    ///   - subject: returns the value of `$1`.
    package init(
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

    /// The tables of ``columns``.
    var tables: [String] { columns.map { String($0.prefix { $0 != "." }) } }

    /// Exports the person's own audit trail.
    package static func audit(_ trail: AuditTrail) -> ExportSection {
        ExportSection(
            "act", of: ["pseudonyms"],
            """
            SELECT lpad(sequence::text, 19, '0') AS key,
                jsonb_build_object('act', act, 'at', \(time("at")), 'details', details::jsonb) AS record
            FROM audit WHERE chain = $1 AND chain <> 'service'
            """
        ) { person, transaction in .text(try await trail.chain(of: person, in: transaction).name) }
    }

    /// SQL for a `timestamptz` in the format of the public API.
    package static func time(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    }
}

/// Exports everything that a service holds about a person, page by page.
///
/// First come the records of the sections. Then comes every other table of the schema with a column `person_id`.
@Loop package struct PersonExport {
    private let database: Database
    private let sections: [ExportSection]

    /// - Parameter sections: the sections for the tables that are not exported as they are.
    package nonisolated init(database: Database, sections: [ExportSection]) {
        (self.database, self.sections) = (database, sections)
    }

    /// Returns one page.
    ///
    /// - Parameters:
    ///   - cursor: ``ExportPage/next`` of the previous page; `nil` for the first page.
    ///   - check: throws if the person may not have the export.
    package func page(
        of person: Identifier, after cursor: String?,
        check: @Loop (Transaction) async throws -> Void
    ) async throws -> ExportPage {
        // A transaction has its own connection, so a long list does not delay the reads of other requests.
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

    /// Puts the other members before the row's own text. The text is parsed only if the section has an `opening`.
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
