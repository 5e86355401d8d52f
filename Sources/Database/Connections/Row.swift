import CPostgres
import Values

/// One row of a result. Its columns are read by name from libpq's memory.
package struct Row: Sendable {
    let result: QueryResult
    let index: Int32

    private func value(_ column: String) throws(DatabaseError) -> UnsafeRawBufferPointer? {
        guard let number = result.columns.number(of: column) else { throw .unreadable(column: column) }
        return result.value(index, number)
    }

    /// Whether the value is NULL.
    package func isNull(_ column: String) throws(DatabaseError) -> Bool { try value(column) == nil }

    private func read<Value>(
        _ column: String, _ decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(DatabaseError) -> Value? {
        guard let bytes = try value(column) else { return nil }
        guard let decoded = decode(bytes) else { throw .unreadable(column: column) }
        return decoded
    }

    private func required<Value>(_ column: String, _ value: Value?) throws(DatabaseError) -> Value {
        guard let value else { throw .unreadable(column: column) }
        return value
    }

    /// A `boolean`; `nil` for NULL.
    package func optionalBool(_ column: String) throws(DatabaseError) -> Bool? {
        try read(column) { $0.first.map { $0 != 0 } }
    }
    /// A `boolean` that is not NULL.
    package func bool(_ column: String) throws(DatabaseError) -> Bool { try required(column, optionalBool(column)) }

    /// A `bytea`; `nil` for NULL.
    package func optionalBytes(_ column: String) throws(DatabaseError) -> [UInt8]? { try read(column) { [UInt8]($0) } }
    /// A `bytea` that is not NULL.
    package func bytes(_ column: String) throws(DatabaseError) -> [UInt8] {
        try required(column, optionalBytes(column))
    }

    /// A `text`; `nil` for NULL.
    ///
    /// libpq ends each value with a zero byte, and a `text` value contains none.
    package func optionalText(_ column: String) throws(DatabaseError) -> String? {
        try read(column) { $0.bindMemory(to: CChar.self).baseAddress.flatMap { String(validatingCString: $0) } }
    }
    /// A `text` that is not NULL.
    package func text(_ column: String) throws(DatabaseError) -> String { try required(column, optionalText(column)) }

    /// A value of any integer type; `nil` for NULL.
    package func optionalInteger(_ column: String) throws(DatabaseError) -> Int64? {
        try read(column, BinaryFormat.integer)
    }
    /// A value of any integer type that is not NULL.
    package func integer(_ column: String) throws(DatabaseError) -> Int64 {
        try required(column, optionalInteger(column))
    }

    /// A `double precision`; `nil` for NULL.
    package func optionalDouble(_ column: String) throws(DatabaseError) -> Double? {
        try read(column) { bytes in
            bytes.count == 8
                ? BinaryFormat.integer(bytes).map { Double(bitPattern: UInt64(bitPattern: $0)) } : nil
        }
    }

    /// A `uuid`; `nil` for NULL.
    package func optionalUUID(_ column: String) throws(DatabaseError) -> Identifier? {
        try read(column) { Identifier($0) }
    }
    /// A `uuid` that is not NULL.
    package func uuid(_ column: String) throws(DatabaseError) -> Identifier {
        try required(column, optionalUUID(column))
    }

    /// A `timestamptz`; `nil` for NULL.
    package func optionalTimestamp(_ column: String) throws(DatabaseError) -> Timestamp? {
        try read(column) { bytes in
            BinaryFormat.integer(bytes).map { Timestamp(microsecondsSinceEpoch: $0 + PostgresEpoch.microseconds) }
        }
    }
    /// A `timestamptz` that is not NULL.
    package func timestamp(_ column: String) throws(DatabaseError) -> Timestamp {
        try required(column, optionalTimestamp(column))
    }

    /// A `date`; `nil` for NULL.
    package func optionalDate(_ column: String) throws(DatabaseError) -> CivilDate? {
        try read(column) { bytes in
            BinaryFormat.integer(bytes).map { CivilDate(daysSinceEpoch: Int($0) + PostgresEpoch.days) }
        }
    }

    /// The text of a `jsonb`; `nil` for NULL.
    package func optionalJSON(_ column: String) throws(DatabaseError) -> [UInt8]? {
        try read(column) { $0.first == 1 ? Array($0.dropFirst()) : nil }
    }
    /// The text of a `jsonb` that is not NULL.
    package func json(_ column: String) throws(DatabaseError) -> [UInt8] { try required(column, optionalJSON(column)) }

    /// A `text[]` without NULLs.
    package func textArray(_ column: String) throws(DatabaseError) -> [String] {
        try required(column, read(column, BinaryFormat.textArray))
    }
}

enum BinaryFormat {
    static func integer(_ bytes: some Collection<UInt8>) -> Int64? {
        switch bytes.count {
        case 2: Int64(Int16(truncatingIfNeeded: bytes.reduce(0) { $0 << 8 | Int($1) }))
        case 4: Int64(Int32(truncatingIfNeeded: bytes.reduce(0) { $0 << 8 | Int($1) }))
        case 8: bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        default: nil
        }
    }

    static func textArray(_ bytes: UnsafeRawBufferPointer) -> [String]? {
        var position = 0
        func next() -> Int? {
            guard bytes.count - position >= 4 else { return nil }
            defer { position += 4 }
            return Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self)))
        }
        guard let dimensions = next(), next() != nil, next() != nil else { return nil }
        guard dimensions == 1 else { return dimensions == 0 ? [] : nil }
        guard let count = next(), count >= 0, next() != nil else { return nil }
        var values: [String] = []
        for _ in 0..<count {
            guard let length = next(), length >= 0, bytes.count - position >= length else { return nil }
            values.append(String(decoding: bytes[position..<position + length], as: UTF8.self))
            position += length
        }
        return values
    }
}

/// The owner of one `PGresult`, shared by its rows.
///
/// libpq never changes a returned result, so any thread may read it.
final class QueryResult: @unchecked Sendable {
    private let raw: OpaquePointer
    let columns: ColumnNames

    /// - Parameter columns: the columns, if an earlier result of the same statement gave them.
    init(owning raw: OpaquePointer, columns: ColumnNames? = nil) {
        self.raw = raw
        self.columns = columns ?? ColumnNames(of: raw)
    }

    deinit { PQclear(raw) }

    var status: ExecStatusType { PQresultStatus(raw) }

    /// The failure of the command; `nil` on success.
    var failure: DatabaseError? {
        switch status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_PIPELINE_SYNC: return nil
        case PGRES_PIPELINE_ABORTED: return .aborted
        default:
            func field(_ code: Int32) -> String? { PQresultErrorField(raw, code).map { String(cString: $0) } }
            // A failure without a SQLSTATE comes from libpq: the connection is lost.
            guard let sqlState = field(CPostgres_diagSQLState()) else { return .unavailable }
            return .statement(sqlState: sqlState, constraint: field(CPostgres_diagConstraintName()))
        }
    }

    var rows: [Row] { (0..<PQntuples(raw)).map { Row(result: self, index: $0) } }

    /// The bytes of a value, valid as long as the result lives; `nil` for NULL.
    func value(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(raw, row, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(raw, row, column), count: Int(PQgetlength(raw, row, column)))
    }
}

/// The columns of a statement's rows. There are few, so a linear search is fastest.
final class ColumnNames: Sendable {
    private let names: [String]
    private let hashes: [KeyHash]

    init(of result: OpaquePointer) {
        names = (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }
        hashes = names.map(KeyHash.init)
    }

    func number(of name: String) -> Int32? {
        let hash = KeyHash(name)
        return hashes.indices.first { hashes[$0] == hash && names[$0] == name }.map { Int32($0) }
    }
}
