import Values

/// The result of verifying a service's audit trail.
package struct AuditReport: Sendable {
    /// One difference from the trail as it was written.
    package struct Finding: Sendable, Equatable {
        /// The name of the chain; `nil` if the difference concerns all anchors.
        package let chain: String?
        /// The problem and its place, as a sentence without its full stop.
        package let text: String

        /// Takes the chain and the sentence.
        package init(chain: String?, text: String) { (self.chain, self.text) = (chain, text) }
    }

    /// The number of rows that were verified.
    package internal(set) var rows: Int64 = 0
    /// The number of chains that were verified.
    package internal(set) var chains: Int64 = 0
    /// The number of anchors that were verified.
    package internal(set) var anchors: Int64 = 0
    /// In the order of their discovery: rows by chain, then anchors by run, then the file.
    package internal(set) var findings: [Finding] = []

    mutating func find(_ chain: String?, _ text: String) { findings.append(Finding(chain: chain, text: text)) }
}

/// A row of the trail, with its chain's head.
struct AuditRow: Sendable {
    let chain: String
    let sequence: Int64
    let act: String
    let at: Timestamp
    let details: String
    let hash: [UInt8]
    let headSequence: Int64?
    let headHash: [UInt8]?
}

/// Reads the rows of all chains in order, and notes each row that does not follow from the one before.
struct AuditWalk {
    private(set) var report = AuditReport()
    private var last: AuditRow?

    mutating func take(_ row: AuditRow) {
        if let last, last.chain != row.chain { end(of: last) }
        let previous = last?.chain == row.chain ? last : nil
        if previous == nil { report.chains += 1 }
        report.rows += 1
        // The table may contain any number, even a manipulated one. No number may end the verification.
        let expected = (previous?.sequence ?? 0) &+ 1
        if row.sequence != expected {
            // The head assigns the numbers and leaves none out.
            report.find(row.chain, Self.missing(expected, row.sequence &- 1))
        } else if row.hash != Self.hash(of: row, after: previous?.hash ?? []) {
            let place = previous.map { "row \($0.sequence)" } ?? "the beginning"
            report.find(
                row.chain, "row \(row.sequence) (\(row.act)) does not follow from \(place): changed, moved or inserted")
        }
        last = row
    }

    /// Called after the last row.
    mutating func finish() {
        if let last { end(of: last) }
        last = nil
    }

    private mutating func end(of row: AuditRow) {
        guard let head = row.headSequence else {
            return report.find(row.chain, "its head is missing")
        }
        if head > row.sequence {
            report.find(row.chain, Self.missing(row.sequence &+ 1, head))
        } else if head < row.sequence {
            report.find(row.chain, "\(Self.rows(head &+ 1, row.sequence)) inserted behind the end that its head says")
        } else if row.hash != row.headHash {
            report.find(row.chain, "its head is not that of row \(row.sequence)")
        }
    }

    private static func hash(of row: AuditRow, after previous: [UInt8]) -> [UInt8] {
        AuditHash.hash(
            previous: previous, chain: row.chain, sequence: row.sequence, at: row.at, act: row.act,
            details: row.details)
    }

    static func missing(_ first: Int64, _ last: Int64) -> String { "\(rows(first, last)) missing" }

    private static func rows(_ first: Int64, _ last: Int64) -> String {
        first >= last ? "row \(first) is" : "rows \(first) to \(last) are"
    }
}
