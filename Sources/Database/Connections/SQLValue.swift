import Values

/// A parameter of a statement, in PostgreSQL's binary format. Each has a type, even a NULL.
package struct SQLValue: Sendable, Equatable {
    let type: UInt32
    let bytes: [UInt8]?

    private init(_ type: UInt32, _ bytes: [UInt8]?) { (self.type, self.bytes) = (type, bytes) }

    /// For `boolean`.
    package static func bool(_ value: Bool?) -> SQLValue { SQLValue(16, value.map { [$0 ? 1 : 0] }) }
    /// For `bytea`.
    package static func bytes(_ value: [UInt8]?) -> SQLValue { SQLValue(17, value) }
    /// For columns of any integer type.
    package static func integer(_ value: Int64?) -> SQLValue { SQLValue(20, value.map { bigEndian($0) }) }
    /// For `text`.
    package static func text(_ value: String?) -> SQLValue { SQLValue(25, value.map { Array($0.utf8) }) }
    /// For `double precision`.
    package static func double(_ value: Double?) -> SQLValue { SQLValue(701, value.map { bigEndian($0.bitPattern) }) }
    /// For `uuid`.
    package static func uuid(_ value: Identifier?) -> SQLValue { SQLValue(2950, value?.array) }
    /// A JSON text, for a `jsonb` column.
    package static func json(_ value: [UInt8]?) -> SQLValue { SQLValue(3802, value.map { [1] + $0 }) }
    /// For `date`.
    package static func date(_ value: CivilDate?) -> SQLValue {
        SQLValue(1082, value.map { bigEndian(Int32($0.daysSinceEpoch - PostgresEpoch.days)) })
    }
    /// For `timestamptz`.
    package static func timestamp(_ value: Timestamp?) -> SQLValue {
        SQLValue(1184, value.map { bigEndian($0.microsecondsSinceEpoch - PostgresEpoch.microseconds) })
    }
    /// For `text[]`.
    package static func textArray(_ values: [String]) -> SQLValue { array(of: 25, values.map { Array($0.utf8) }) }
    /// For `uuid[]`.
    package static func uuidArray(_ values: [Identifier]) -> SQLValue { array(of: 2950, values.map(\.array)) }
    /// An array with the type of its values, of which there must be at least one.
    package static func array(_ values: [SQLValue]) -> SQLValue { array(of: values[0].type, values.map(\.bytes)) }

    /// The array type of each element type. Source: `typarray` of PostgreSQL's `pg_type`.
    private static let arrayTypes: [UInt32: UInt32] = [
        16: 1000, 17: 1001, 20: 1016, 25: 1009, 701: 1022, 1082: 1182, 1184: 1185, 2950: 2951, 3802: 3807,
    ]

    private static func array(of element: UInt32, _ values: [[UInt8]?]) -> SQLValue {
        guard let type = arrayTypes[element] else { preconditionFailure("no array of \(element)") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(20) { $0 + 4 + ($1?.count ?? 0) })
        func put(_ number: Int32) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        // The number of dimensions, whether there are NULLs, and the type of the elements.
        put(values.isEmpty ? 0 : 1)
        put(values.contains { $0 == nil } ? 1 : 0)
        put(Int32(bitPattern: element))
        if !values.isEmpty {
            // The number of elements, and the index of the first.
            put(Int32(values.count))
            put(1)
        }
        for value in values {
            put(value.map { Int32($0.count) } ?? -1)
            if let value { bytes += value }
        }
        return SQLValue(type, bytes)
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}

/// PostgreSQL counts from 2000-01-01, Unix from 1970-01-01.
enum PostgresEpoch {
    static let days = 10_957
    static let microseconds: Int64 = 946_684_800_000_000
}
