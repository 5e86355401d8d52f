import BusProtocol
import CPostgres

/// One row of a result, read by column name.
public struct Row: Sendable {
    let columns: [String: Int]
    let values: [[UInt8]?]

    private func value(_ column: String) throws(DatabaseError) -> [UInt8]? {
        guard let index = columns[column] else { throw .unreadable(column: column) }
        return values[index]
    }

    private func read<Value>(
        _ column: String, _ decode: ([UInt8]) -> Value?
    ) throws(DatabaseError) -> Value? {
        guard let bytes = try value(column) else { return nil }
        guard let decoded = decode(bytes) else { throw .unreadable(column: column) }
        return decoded
    }

    private func required<Value>(_ column: String, _ value: Value?) throws(DatabaseError) -> Value {
        guard let value else { throw .unreadable(column: column) }
        return value
    }

    public func optionalBool(_ column: String) throws(DatabaseError) -> Bool? {
        try read(column) { $0.first.map { $0 != 0 } }
    }
    public func bool(_ column: String) throws(DatabaseError) -> Bool { try required(column, optionalBool(column)) }

    public func optionalBytes(_ column: String) throws(DatabaseError) -> [UInt8]? { try read(column) { $0 } }
    public func bytes(_ column: String) throws(DatabaseError) -> [UInt8] { try required(column, optionalBytes(column)) }

    public func optionalText(_ column: String) throws(DatabaseError) -> String? {
        try read(column) { String(validating: $0, as: UTF8.self) }
    }
    public func text(_ column: String) throws(DatabaseError) -> String { try required(column, optionalText(column)) }

    /// Of any integer type.
    public func optionalInteger(_ column: String) throws(DatabaseError) -> Int64? {
        try read(column, BinaryFormat.integer)
    }
    public func integer(_ column: String) throws(DatabaseError) -> Int64 {
        try required(column, optionalInteger(column))
    }

    public func optionalDouble(_ column: String) throws(DatabaseError) -> Double? {
        try read(column) { bytes in
            bytes.count == 8
                ? BinaryFormat.integer(bytes).map { Double(bitPattern: UInt64(bitPattern: $0)) } : nil
        }
    }

    public func optionalUUID(_ column: String) throws(DatabaseError) -> Identifier? {
        try read(column) { Identifier($0) }
    }
    public func uuid(_ column: String) throws(DatabaseError) -> Identifier {
        try required(column, optionalUUID(column))
    }

    public func optionalTimestamp(_ column: String) throws(DatabaseError) -> Timestamp? {
        try read(column) { bytes in
            BinaryFormat.integer(bytes).map { Timestamp(microsecondsSinceEpoch: $0 + PostgresEpoch.microseconds) }
        }
    }
    public func timestamp(_ column: String) throws(DatabaseError) -> Timestamp {
        try required(column, optionalTimestamp(column))
    }

    public func optionalDate(_ column: String) throws(DatabaseError) -> CivilDate? {
        try read(column) { bytes in
            BinaryFormat.integer(bytes).map { CivilDate(daysSinceEpoch: Int($0) + PostgresEpoch.days) }
        }
    }

    /// The text of a `jsonb` value.
    public func optionalJSON(_ column: String) throws(DatabaseError) -> [UInt8]? {
        try read(column) { $0.first == 1 ? Array($0.dropFirst()) : nil }
    }
    public func json(_ column: String) throws(DatabaseError) -> [UInt8] { try required(column, optionalJSON(column)) }

    /// A `text[]` without NULLs in it.
    public func textArray(_ column: String) throws(DatabaseError) -> [String] {
        try required(column, read(column, BinaryFormat.textArray))
    }
}

enum BinaryFormat {
    static func integer(_ bytes: [UInt8]) -> Int64? {
        switch bytes.count {
        case 2: Int64(Int16(truncatingIfNeeded: bytes.reduce(0) { $0 << 8 | Int($1) }))
        case 4: Int64(Int32(truncatingIfNeeded: bytes.reduce(0) { $0 << 8 | Int($1) }))
        case 8: bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        default: nil
        }
    }

    static func textArray(_ bytes: [UInt8]) -> [String]? {
        var rest = bytes[...]
        func next() -> Int? {
            guard rest.count >= 4 else { return nil }
            let value = integer(Array(rest.prefix(4)))
            rest = rest.dropFirst(4)
            return value.map { Int($0) }
        }
        guard let dimensions = next(), next() != nil, next() != nil else { return nil }
        guard dimensions == 1 else { return dimensions == 0 ? [] : nil }
        guard let count = next(), count >= 0, next() != nil else { return nil }
        var values: [String] = []
        for _ in 0..<count {
            guard let length = next(), length >= 0, rest.count >= length else { return nil }
            values.append(String(decoding: rest.prefix(length), as: UTF8.self))
            rest = rest.dropFirst(length)
        }
        return values
    }
}

/// Sole owner of one `PGresult`, freed on every path out of scope.
struct QueryResult: ~Copyable {
    private let raw: OpaquePointer
    init(owning raw: OpaquePointer) { self.raw = raw }
    deinit { PQclear(raw) }

    var status: ExecStatusType { PQresultStatus(raw) }

    /// The failure of the command; `nil` on success.
    var failure: DatabaseError? {
        switch status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_PIPELINE_SYNC: return nil
        case PGRES_PIPELINE_ABORTED: return .aborted
        default:
            func field(_ code: Int32) -> String? { PQresultErrorField(raw, code).map { String(cString: $0) } }
            // A failure without SQLSTATE is libpq's own: the connection is lost.
            guard let sqlState = field(CPostgres_diagSQLState()) else { return .unavailable }
            return .statement(sqlState: sqlState, constraint: field(CPostgres_diagConstraintName()))
        }
    }

    func rows() -> [Row] {
        let (rows, columns) = (PQntuples(raw), PQnfields(raw))
        var names: [String: Int] = [:]
        for column in 0..<columns { names[String(cString: PQfname(raw, column))] = Int(column) }
        return (0..<rows).map { row in
            Row(
                columns: names,
                values: (0..<columns).map { column in
                    guard PQgetisnull(raw, row, column) == 0 else { return nil }
                    let value = UnsafeRawBufferPointer(
                        start: PQgetvalue(raw, row, column), count: Int(PQgetlength(raw, row, column)))
                    return [UInt8](value)
                })
        }
    }
}
