/// One SQL statement with `$1` parameters, prepared on each connection when it is first used there.
///
/// Columns are always named: a prepared `SELECT *` fails after `ADD COLUMN`.
public struct Statement: Sendable, Hashable, ExpressibleByStringLiteral {
    public let sql: String
    public init(_ sql: String) { self.sql = sql }
    public init(stringLiteral value: String) { sql = value }
}
