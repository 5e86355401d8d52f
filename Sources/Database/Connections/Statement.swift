/// One SQL statement with `$1` parameters. Each connection prepares it at its first use.
///
/// Columns are always named, because a prepared `SELECT *` fails after `ADD COLUMN`.
package struct Statement: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The SQL with `$1` for parameters.
    package let sql: String
    /// Each use looks the statement up by this hash, because the text is long.
    private let hash: Int

    /// Takes the SQL.
    package init(_ sql: String) { (self.sql, hash) = (sql, sql.hashValue) }
    package init(stringLiteral value: String) { self.init(value) }

    /// The tables that it names, in order, for the log of a failure.
    var tables: [String] {
        let words = sql.split { !($0.isLetter || $0.isNumber || "_.($".contains($0)) }
        var (found, own) = ([String](), Set<Substring>())
        for (word, next) in zip(words, words.dropFirst()) {
            // `FROM (things t JOIN …` names a table. `FROM (SELECT …)`, `FROM unnest(…)` and `FROM t.at` name none.
            let name = next.drop { $0 == "(" }
            if next == "AS" { own.insert(word) }
            guard Self.leads.contains(word.uppercased()), name.allSatisfy({ $0.isLowercase || $0 == "_" }) else {
                continue
            }
            if !own.contains(name), !found.contains(String(name)) { found.append(String(name)) }
        }
        return found
    }
    private static let leads: Set = ["FROM", "INTO", "UPDATE", "JOIN"]

    package static func == (a: Statement, b: Statement) -> Bool { a.sql == b.sql }
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// A statement with its parameters.
package typealias Query = (statement: Statement, values: [SQLValue])
