import BusProtocol
import Documents
import JSONText

/// All findings about a definition's file, each with its position in the text.
struct DefinitionCheck {
    private let check: DocumentCheck
    let shortest: Int?
    let longest: Int?
    /// A note about the comparison with earlier versions.
    private let note: String?
    /// The number of earlier versions; `nil` if they are unknown.
    private let earlierCount: Int?

    /// In the order of the text.
    var findings: [DocumentCheck.Finding] { check.findings }
    var errorCount: Int { check.errorCount }

    /// - Parameters:
    ///   - today: the day on which ages are calculated.
    ///   - earlier: the published versions of the questionnaire; `nil` if unknown.
    ///   - fields: of the profile; `nil` if unknown.
    init(
        _ bytes: [UInt8], today: CivilDate, earlier: EarlierVersions? = nil, fields: ExtractedFields? = nil
    ) {
        var report = VersionPlan.Report()
        check = DocumentCheck(bytes) { draft in
            report = VersionPlan.report(on: draft, of: nil, after: earlier, fields: fields, today: today)
            return DocumentReport(problems: report.problems, warnings: report.warnings)
        }
        (shortest, longest) = (report.shortest, report.longest)
        note = check.content.flatMap { Self.note(on: $0, earlier) }
        earlierCount = earlier?.contents.count
    }

    /// The findings as lines of text, in the form of a compiler's messages.
    func lines(of file: String) -> [String] {
        var addition = ""
        if let shortest, let longest {
            addition = "; the shortest path shows \(shortest) questions, the longest \(longest)"
        }
        return check.lines(of: file, addition: addition) + [note].compactMap(\.self)
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

    var json: JSONValue {
        [
            "findings": check.json,
            "shortestPath": shortest.map { .integer(Int64($0)) } ?? .null,
            "longestPath": longest.map { .integer(Int64($0)) } ?? .null,
            "comparedVersions": earlierCount.map { .integer(Int64($0)) } ?? .null,
        ]
    }
}
