import BusProtocol
import JSONText

/// Everything that can be said of a definition's file, each thing with its place in the text.
struct DefinitionCheck {
    struct Finding: Equatable {
        var problem: DefinitionProblem
        var isError: Bool
        /// From 1; columns count bytes.
        var line: Int
        var column: Int
    }

    /// In the order of the text.
    private(set) var findings: [Finding] = []
    private(set) var shortest: Int?
    private(set) var longest: Int?

    var errorCount: Int { findings.count(where: \.isError) }

    /// - Parameter today: the day that ages are counted on.
    init(_ bytes: [UInt8], today: CivilDate) {
        let document: JSONDocument
        do throws(JSONTextError) {
            document = try JSONDocument(bytes, limits: DefinitionParser.limits)
        } catch {
            let problem = DefinitionProblem(code: "malformed", pointer: "", message: "Not JSON: \(error.message).")
            findings = [Finding(problem: problem, isError: true, line: error.line, column: error.column)]
            return
        }
        var (problems, warnings): ([DefinitionProblem], [DefinitionProblem]) = ([], [])
        do throws(DefinitionError) {
            let report = PublishGate.check(try DefinitionParser.parse(bytes), today: today, declared: nil)
            (problems, warnings) = (report.problems, report.warnings)
            (shortest, longest) = (report.shortest, report.longest)
        } catch {
            problems = error.problems
        }
        let text = JSONPositions(document)
        findings = (problems.map { ($0, true) } + warnings.map { ($0, false) }).map { problem, isError in
            let (line, column) = text.position(of: problem.pointer)
            return Finding(problem: problem, isError: isError, line: line, column: column)
        }
        findings.sort { ($0.line, $0.column, $0.problem.code) < ($1.line, $1.column, $1.problem.code) }
    }

    /// As a compiler prints what it finds.
    func lines(of file: String) -> [String] {
        findings.map { finding in
            let problem = finding.problem
            let keys = problem.keys.isEmpty ? "" : " (\(problem.keys.joined(separator: ", ")))"
            return "\(file):\(finding.line):\(finding.column): \(finding.isError ? "error" : "warning"): "
                + "\(problem.message)\(keys) [\(problem.code) \(problem.pointer)]"
        } + [summary]
    }

    private var summary: String {
        let (errors, warnings) = (errorCount, findings.count - errorCount)
        let counts = "\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")"
        guard let shortest, let longest else { return counts }
        return counts + "; the shortest path shows \(shortest) questions, the longest \(longest)"
    }

    var json: JSONValue {
        [
            "findings": .array(
                findings.map { finding in
                    [
                        "severity": finding.isError ? "error" : "warning", "code": .string(finding.problem.code),
                        "pointer": .string(finding.problem.pointer), "message": .string(finding.problem.message),
                        "keys": .array(finding.problem.keys.map { .string($0) }),
                        "line": .integer(Int64(finding.line)), "column": .integer(Int64(finding.column)),
                    ]
                }),
            "shortestPath": shortest.map { .integer(Int64($0)) } ?? .null,
            "longestPath": longest.map { .integer(Int64($0)) } ?? .null,
        ]
    }
}
