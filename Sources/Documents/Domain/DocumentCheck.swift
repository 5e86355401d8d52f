import JSONText

/// All findings about a document's file, each with its position in the text.
package struct DocumentCheck: Sendable {
    /// A problem or a warning.
    package struct Finding: Sendable, Equatable {
        /// The problem that was found.
        package var problem: DocumentProblem
        /// Whether it keeps the document from being published.
        package var isError: Bool
        /// From 1.
        package var line: Int
        /// From 1. Columns count Unicode scalars.
        package var column: Int
    }

    /// In the order of the text.
    package private(set) var findings: [Finding] = []
    /// The document; `nil` if the file is no JSON.
    package private(set) var content: JSONValue?
    /// For a JSON error: the line, and a mark under the character.
    private var excerpt: [String] = []

    /// The number of problems that keep the document from being published.
    package var errorCount: Int { findings.count(where: \.isError) }

    /// - Parameters:
    ///   - bytes: the bytes of the file.
    ///   - report: checks the document.
    package init(_ bytes: [UInt8], report: (JSONValue) -> DocumentReport) {
        let document: JSONDocument
        do throws(JSONTextError) {
            document = try JSONDocument(bytes, limits: DocumentText.limits)
        } catch {
            let problem = DocumentProblem(code: "malformed", pointer: "", message: "Not JSON: \(error.message).")
            findings = [Finding(problem: problem, isError: true, line: error.line, column: error.column)]
            excerpt = error.excerpt(of: bytes)
            return
        }
        content = document.root.value
        let (report, text) = (report(document.root.value), JSONPositions(document))
        let all = report.problems.map { ($0, true) } + report.warnings.map { ($0, false) }
        findings = all.map { problem, isError in
            let (line, column) = text.position(of: problem.pointer)
            return Finding(problem: problem, isError: isError, line: line, column: column)
        }
        findings.sort { ($0.line, $0.column, $0.problem.code) < ($1.line, $1.column, $1.problem.code) }
    }

    /// The findings as lines of text, in the form of a compiler's messages, and a last line with their counts.
    ///
    /// - Parameters:
    ///   - file: the name of the file.
    ///   - addition: a text that follows the counts.
    package func lines(of file: String, addition: String = "") -> [String] {
        let (errors, warnings) = (errorCount, findings.count - errorCount)
        let counts = "\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")"
        return findings.map { finding in
            let problem = finding.problem
            let keys = problem.keys.isEmpty ? "" : " (\(problem.keys.joined(separator: ", ")))"
            return "\(file):\(finding.line):\(finding.column): \(finding.isError ? "error" : "warning"): "
                + "\(problem.message)\(keys) [\(problem.code) \(problem.pointer)]"
        } + excerpt + [counts + addition]
    }

    /// The findings, for a program.
    package var json: JSONValue {
        .array(
            findings.map { finding in
                [
                    "severity": finding.isError ? "error" : "warning", "code": .string(finding.problem.code),
                    "pointer": .string(finding.problem.pointer), "message": .string(finding.problem.message),
                    "keys": .array(finding.problem.keys.map { .string($0) }),
                    "line": .integer(Int64(finding.line)), "column": .integer(Int64(finding.column)),
                ]
            })
    }
}
