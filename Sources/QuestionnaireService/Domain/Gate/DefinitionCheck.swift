import BusProtocol
import JSONText

/// All findings about a definition's file, each with its position in the text.
struct DefinitionCheck {
    struct Finding: Equatable {
        var problem: DefinitionProblem
        var isError: Bool
        /// From 1. Columns count Unicode scalars.
        var line: Int
        var column: Int
    }

    /// In the order of the text.
    private(set) var findings: [Finding] = []
    private(set) var shortest: Int?
    private(set) var longest: Int?

    /// For a JSON error: the line, and a mark under the character.
    private var excerpt: [String] = []
    /// A note about the comparison with earlier versions.
    private var note: String?
    /// The number of earlier versions; `nil` if they are unknown.
    private let earlierCount: Int?

    var errorCount: Int { findings.count(where: \.isError) }

    /// - Parameters:
    ///   - today: the day on which ages are calculated.
    ///   - earlier: the published versions of the questionnaire; `nil` if unknown.
    ///   - fields: of the profile; `nil` if unknown.
    init(
        _ bytes: [UInt8], today: CivilDate, earlier: EarlierVersions? = nil, fields: ExtractedFields? = nil
    ) {
        earlierCount = earlier?.contents.count
        let document: JSONDocument
        do throws(JSONTextError) {
            document = try JSONDocument(bytes, limits: DefinitionParser.limits)
        } catch {
            let problem = DefinitionProblem(code: "malformed", pointer: "", message: "Not JSON: \(error.message).")
            findings = [Finding(problem: problem, isError: true, line: error.line, column: error.column)]
            excerpt = error.excerpt(of: bytes)
            return
        }
        let root = document.root.value
        let report = VersionPlan.report(on: root, of: nil, after: earlier, fields: fields, today: today)
        (shortest, longest) = (report.shortest, report.longest)
        note = Self.note(on: root, earlier)
        let text = JSONPositions(document)
        let all = report.problems.map { ($0, true) } + report.warnings.map { ($0, false) }
        findings = all.map { problem, isError in
            let (line, column) = text.position(of: problem.pointer)
            return Finding(problem: problem, isError: isError, line: line, column: column)
        }
        findings.sort { ($0.line, $0.column, $0.problem.code) < ($1.line, $1.column, $1.problem.code) }
    }

    /// The findings as lines of text, in the form of a compiler's messages.
    func lines(of file: String) -> [String] {
        findings.map { finding in
            let problem = finding.problem
            let keys = problem.keys.isEmpty ? "" : " (\(problem.keys.joined(separator: ", ")))"
            return "\(file):\(finding.line):\(finding.column): \(finding.isError ? "error" : "warning"): "
                + "\(problem.message)\(keys) [\(problem.code) \(problem.pointer)]"
        } + excerpt + [summary] + [note].compactMap(\.self)
    }

    private static func note(on draft: JSONValue, _ earlier: EarlierVersions?) -> String? {
        if let earlier {
            guard let last = earlier.files.last?.version else { return nil }
            return "note: it was compared with the published versions, and would be version \(last + 1)"
        }
        let isFirst = draft["version"]?.integerValue ?? 1 == 1
        let saysNothing = ["migrations", "derivedFrom"].allSatisfy { draft[$0] ?? .null == .null }
        guard !isFirst || !saysNothing || ExtractedFields.areNamed(in: draft) else { return nil }
        return
            "note: no system runs here, so it was not compared with published versions and fields (E14, E15, E16, E18)"
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
            "comparedVersions": earlierCount.map { .integer(Int64($0)) } ?? .null,
        ]
    }
}
