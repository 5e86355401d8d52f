import BusProtocol
import Documents
import JSONText

/// The version of a plan that publishing a draft would make. It is decided before anything is written.
struct PlanPublication: PublicationPlan {
    let document: PlanDocument
    /// The changes from the newest version; empty for a first version.
    let changes: [PlanChange]

    /// - Parameters:
    ///   - draft: as it was written. Its `version` is ignored.
    ///   - earlier: the published versions, the oldest first.
    /// - Throws: every problem of the draft.
    init(
        _ draft: JSONValue, of key: String, after earlier: [JSONValue], _ library: FieldLibrary,
        beside neighbours: PlanNeighbours, now: Timestamp
    ) throws(DocumentError) {
        let report = Self.report(on: draft, of: key, after: earlier, library, beside: neighbours, now: now)
        guard let document = report.document, report.problems.isEmpty else {
            throw DocumentError(problems: report.problems)
        }
        self.document = document
        changes =
            try earlier.last.map { content throws(DocumentError) in
                let before = try PlanDocument(content).file
                return PlanDifference(from: before, to: document.file, library).changes
            } ?? []
    }

    /// Reports all problems of a draft.
    ///
    /// - Parameters:
    ///   - key: `nil` if only the draft names its plan.
    ///   - earlier: the published versions, the oldest first; `nil` if they are unknown.
    ///   - neighbours: `nil` if they are unknown.
    /// - Returns: no document if the draft has another shape.
    static func report(
        on draft: JSONValue, of key: String?, after earlier: [JSONValue]?, _ library: FieldLibrary,
        beside neighbours: PlanNeighbours?, now: Timestamp
    ) -> (document: PlanDocument?, problems: [DocumentProblem]) {
        let newest = earlier?.last?["version"]?.integerValue ?? 0
        let document: PlanDocument
        do throws(DocumentError) {
            document = try PlanDocument(DocumentText.next(draft, of: key, after: newest))
        } catch {
            return (nil, error.problems)
        }
        var problems: [DocumentProblem] = []
        if let key, document.key != key {
            problems.append(
                DocumentProblem(
                    code: "malformed", pointer: "/key", message: "This is the key of another plan.",
                    keys: [document.key]))
        }
        problems += Self.problems(in: document, library, beside: neighbours)
        if let earlier {
            problems += DerivedFrom(earlier).problems(of: document.file.derivedFrom)
            problems += Self.unknownVersions(document.file, earlier)
        }
        problems += Self.pastDates(document.file, earlier?.last, now: now)
        return (document, problems)
    }

    /// The dates that lie in the past. One that the version before has may have passed.
    private static func pastDates(_ file: PlanFile, _ before: JSONValue?, now: Timestamp) -> [DocumentProblem] {
        let known = (before.flatMap { try? PlanDocument($0).file })?.dates ?? []
        return file.dates.filter { dated in
            dated.dueAt <= now && !known.contains { $0.key == dated.key && $0.dueAt == dated.dueAt }
        }.map { DocumentProblem(code: "past_date", pointer: $0.pointer, message: "This date has passed.") }
    }

    /// The versions that people would move from although they are not there.
    private static func unknownVersions(_ file: PlanFile, _ earlier: [JSONValue]) -> [DocumentProblem] {
        let versions = earlier.compactMap { $0["version"]?.integerValue }
        return (file.moves?.from ?? []).enumerated().filter { $1 < file.version && !versions.contains($1) }.map {
            DocumentProblem(
                code: "unknown_version", pointer: "/moves/from/\($0)",
                message: "There is no published version \($1) before this one.")
        }
    }

    /// The conditions by which people could decline a field and so leave out a step that they must do.
    ///
    /// Versions that were published before the gate had this rule stay in use.
    private static func declinableConditions(of plan: Plan, _ library: FieldLibrary) -> [DocumentProblem] {
        plan.steps.enumerated().filter { $1.need == .required || !$1.terms.isEmpty }.flatMap { place, step in
            let fields = (step.visibleIf?.fields ?? []).filter {
                library.field($0, in: library.languages[0])?["allowsPreferNotToSay"] == true
            }
            return fields.sorted().map {
                DocumentProblem(
                    code: "declinable_field", pointer: "/steps/\(place)/visibleIf",
                    message: "People may decline the field \($0), and would leave out the step.", keys: [$0])
            }
        }
    }

    /// The problems of a plan by itself, and beside the other plans.
    ///
    /// - Parameter neighbours: `nil` if they are unknown.
    static func problems(
        in document: PlanDocument, _ library: FieldLibrary, beside neighbours: PlanNeighbours?
    ) -> [DocumentProblem] {
        var problems: [DocumentProblem] = []
        do throws(DocumentError) {
            problems = declinableConditions(of: try PlanParser.parse(document, library), library)
        } catch {
            problems = error.problems
        }
        return problems + (neighbours?.problems(in: document.file) ?? [])
    }
}
