import BusProtocol
import JSONText

/// Drafts, versions and refusals as text.
enum DraftText {
    static func lines(of report: DraftReport, in file: String, _ text: JSONPositions) -> [String] {
        let placed = report.findings.map { (finding: $0, place: text.position(of: $0.pointer)) }
            .sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
        let found = placed.map { finding, place in
            let keys = finding.keys.isEmpty ? "" : " (\(finding.keys.joined(separator: ", ")))"
            return "\(file):\(place.line):\(place.column): \(finding.severity): \(finding.message)\(keys) "
                + "[\(finding.code) \(finding.pointer)]"
        }
        let errors = report.findings.count { $0.severity == "error" }
        return found + [
            "\(count(Int64(errors), "error")), \(count(Int64(report.findings.count - errors), "warning"))"
        ]
    }

    static func lines(of published: PublishedDraft, _ key: String) -> [String] {
        let changes = published.changes.map { change($0.changeClass, $0.kind, $0.keys, $0.pointer) }
        let whole = published.changeClass.map { ", which is \($0)" } ?? ""
        return changes + ["Version \(published.version) of \(key) is published\(whole)."]
            + [published.note].compactMap(\.self)
    }

    static func table(of drafts: [DraftSummary]) -> String {
        let rows = drafts.map { draft in
            [
                "\(draft.number)", draft.publishedAs.map { "published as version \($0)" } ?? "not published",
                RecoveryText.time(draft.updatedAt), draft.from.map { "a copy of version \($0)" } ?? "",
            ]
        }
        return TextTable.text(of: [["draft", "state", "changed", ""]] + rows)
    }

    /// The findings and changes that an error lists beside its detail.
    static func lines(of error: BusError) -> [String] {
        (error.errors ?? []).map { "error: \($0.message) [\($0.code) \($0.field)]" }
            + (error.details?["changes"]?.arrayValue ?? []).map { told in
                change(
                    told["changeClass"]?.stringValue ?? "", told["kind"]?.stringValue ?? "",
                    (told["keys"]?.arrayValue ?? []).compactMap(\.stringValue), told["pointer"]?.stringValue ?? "")
            }
    }

    private static func change(_ changeClass: String, _ kind: String, _ keys: [String], _ pointer: String) -> String {
        "\(changeClass): \(kind)\(keys.isEmpty ? "" : " (\(keys.joined(separator: ", ")))") [\(pointer)]"
    }

    static func count(_ number: Int64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
