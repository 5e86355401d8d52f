import Foundation

/// Lays out rows in columns. Each column is as wide as its longest cell.
enum TextTable {
    /// - Parameter rows: all of the same length. The first one may have the names of the columns.
    static func text(of rows: [[String]]) -> String {
        guard let columns = rows.first?.indices else { return "" }
        let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = columns.dropLast().map {
                row[$0].padding(toLength: widths[$0] + 2, withPad: " ", startingAt: 0)
            }
            return cells.joined() + (row.last ?? "")
        }.joined(separator: "\n")
    }
}
