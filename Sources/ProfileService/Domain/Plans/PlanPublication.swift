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
        let before = (earlier ?? []).compactMap { try? PlanDocument($0).file }
        problems += Self.pastDates(document.file, before, now: now)
        problems += Self.earlyMoves(document.file, now: now)
        problems += Self.changedSteps(document.file, before)
        return (document, problems)
    }

    /// The dates that are in the past. A date that an earlier version has too may have passed.
    private static func pastDates(_ file: PlanFile, _ before: [PlanFile], now: Timestamp) -> [DocumentProblem] {
        let known = before.flatMap(\.dates)
        return file.dates.filter { dated in
            dated.dueAt <= now && !known.contains { $0.key == dated.key && $0.dueAt == dated.dueAt }
        }.map { DocumentProblem(code: "past_date", pointer: $0.pointer, message: "This date has passed.") }
    }

    /// The dates in the future in a version that moves people. For these people, a capability would close before the
    /// date.
    private static func earlyMoves(_ file: PlanFile, now: Timestamp) -> [DocumentProblem] {
        guard file.moves != nil else { return [] }
        return file.dates.filter { $0.dueAt > now }.map {
            DocumentProblem(
                code: "date_ahead", pointer: $0.pointer, message: "People move to a version once its dates have passed."
            )
        }
    }

    /// The steps with a date that people of an older version would never see. That version has another step with the
    /// same key.
    private static func changedSteps(_ file: PlanFile, _ before: [PlanFile]) -> [DocumentProblem] {
        file.steps.enumerated().filter { _, step in
            step.dueAt != nil
                && before.contains { $0.steps.contains { $0.key == step.key && !step.isAskedFor(after: $0) } }
        }.map { place, step in
            DocumentProblem(
                code: "changed_step", pointer: "/steps/\(place)/dueAt",
                message:
                    "An older version has another step \(step.key), and its people would not be asked for this one.",
                keys: [step.key])
        }
    }

    /// The versions that people would move from but that do not exist.
    private static func unknownVersions(_ file: PlanFile, _ earlier: [JSONValue]) -> [DocumentProblem] {
        let versions = earlier.compactMap { $0["version"]?.integerValue }
        return (file.moves?.from ?? []).enumerated().filter { $1 < file.version && !versions.contains($1) }.map {
            DocumentProblem(
                code: "unknown_version", pointer: "/moves/from/\($0)",
                message: "There is no published version \($1) before this one.")
        }
    }

    /// The conditions by which people could avoid a required step: they decline a field, or do not answer it.
    ///
    /// Versions that were published before the gate had this rule stay in use.
    private static func avoidableSteps(of plan: Plan, _ library: FieldLibrary) -> [DocumentProblem] {
        plan.steps.enumerated().filter { $1.need == .required || !$1.terms.isEmpty }.flatMap { place, step in
            let answered = plan.steps[..<place].filter { $0.need == .required && $0.visibleIf == nil }
                .flatMap(\.fields).filter { $0.category == .required }.map(\.key)
            return (step.visibleIf?.fields ?? []).sorted().compactMap { field -> DocumentProblem? in
                func refused(_ code: String, _ message: String) -> DocumentProblem {
                    DocumentProblem(
                        code: code, pointer: "/steps/\(place)/visibleIf", message: message, keys: [field])
                }
                if library.field(field, in: library.languages[0])?["allowsPreferNotToSay"] == true {
                    return refused(
                        "declinable_field", "People may decline the field \(field), and would leave out the step.")
                }
                guard !answered.contains(field) else { return nil }
                return refused(
                    "skippable_field",
                    "No earlier step makes everybody answer the field \(field). Who does not would leave out the step.")
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
            problems = avoidableSteps(of: try PlanParser.parse(document, library), library)
        } catch {
            problems = error.problems
        }
        return problems + (neighbours?.problems(in: document.file) ?? [])
    }
}

extension PlanFile.Step {
    /// Whether people whose version has a former step of the same key are asked for this one.
    fileprivate func isAskedFor(after former: PlanFile.Step) -> Bool {
        guard kind == former.kind else { return false }
        func texts(_ step: PlanFile.Step) -> [[String]] { (step.terms ?? []).map { [$0.document, $0.version] } }
        return former.need != .required || texts(self) != texts(former)
            || (questionnaire == former.questionnaire && visibleIf == former.visibleIf)
    }
}
