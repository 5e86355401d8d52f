/// One SQL statement with `$1` parameters, prepared on each connection when it is first used there.
///
/// Columns are always named: a prepared `SELECT *` fails after `ADD COLUMN`.
public struct Statement: Sendable, Hashable, ExpressibleByStringLiteral {
    public let sql: String
    /// Looked up at each use; the text is long.
    private let hash: Int

    public init(_ sql: String) { (self.sql, hash) = (sql, sql.hashValue) }
    public init(stringLiteral value: String) { self.init(value) }

    public static func == (a: Statement, b: Statement) -> Bool { a.sql == b.sql }
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
