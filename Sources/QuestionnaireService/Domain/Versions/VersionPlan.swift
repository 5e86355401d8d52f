import BusProtocol
import Documents
import JSONText

/// The published versions of a questionnaire, the oldest first.
struct EarlierVersions {
    let contents: [JSONValue]
    let files: [DefinitionFile]

    /// - Throws: ``DefinitionError`` if one of them is not a definition.
    init(_ contents: [JSONValue]) throws(DefinitionError) {
        self.contents = contents
        files = try contents.map { content throws(DefinitionError) in
            try DefinitionParser.read(CanonicalJSON.bytes(of: content)).file
        }
    }
}

/// The version that publishing a draft would make. It is decided before anything is written.
struct VersionPlan: PublicationPlan {
    let document: Definition
    /// The changes from the newest version; empty for a first version.
    let changes: [DefinitionChange]

    var definition: Definition { document }

    /// The questions whose answers the change affects. They are asked again, or they are gone.
    var touched: [String] {
        Set(changes.filter { $0.changeClass >= .reask }.compactMap(\.keys.first)).sorted()
    }

    /// - Parameters:
    ///   - draft: as it was written. Its `version` is ignored.
    /// - Throws: every problem of the draft.
    static func make(
        _ draft: JSONValue, of key: String, after earlier: EarlierVersions, fields: ExtractedFields? = nil,
        isSealingHealth: Bool = true, today: CivilDate
    ) throws(DefinitionError) -> VersionPlan {
        let report = report(
            on: draft, of: key, after: earlier, fields: fields, isSealingHealth: isSealingHealth, today: today)
        guard let definition = report.definition, report.problems.isEmpty else {
            throw DefinitionError(problems: report.problems)
        }
        let file = try DefinitionParser.read(definition.canonicalText).file
        let changes = earlier.files.last.map { DefinitionDifference(from: $0, to: file).changes } ?? []
        return VersionPlan(document: definition, changes: changes)
    }

    struct Report {
        /// `nil` if the draft cannot be read.
        var definition: Definition?
        var problems: [DefinitionProblem] = []
        var warnings: [DefinitionProblem] = []
        var shortest: Int?
        var longest: Int?
    }

    /// Reports all problems and warnings of a draft.
    ///
    /// - Parameters:
    ///   - key: `nil` if only the draft names its questionnaire.
    ///   - earlier: `nil` if the earlier versions are unknown. Then the draft's statements about them are not checked.
    ///   - fields: `nil` if the fields of the profile are unknown, or if no question names one.
    ///   - isSealingHealth: whether answers to sensitive questions are sealed. If not, no question may be marked.
    static func report(
        on draft: JSONValue, of key: String?, after earlier: EarlierVersions?, fields: ExtractedFields? = nil,
        isSealingHealth: Bool = true, today: CivilDate
    ) -> Report {
        var report = Report()
        let next = DocumentText.next(draft, of: key, after: earlier?.files.last?.version ?? 0)
        let bytes = CanonicalJSON.bytes(of: next)
        do throws(DefinitionError) {
            let definition = try DefinitionParser.parse(bytes)
            report.definition = definition
            if let key, definition.key != key {
                report.problems.append(
                    DefinitionProblem(
                        code: "malformed", pointer: "/key", message: "This is the key of another questionnaire.",
                        keys: [definition.key]))
            }
            let gate = PublishGate.check(definition, today: today, declared: nil)
            report.problems += gate.problems
            (report.warnings, report.shortest, report.longest) = (gate.warnings, gate.shortest, gate.longest)
            let file = try DefinitionParser.read(bytes).file
            // An older version may be published again unchanged. Then its keys have their old meaning.
            if earlier?.contents.contains(where: { DocumentText.isSame($0, next) }) != true {
                report.problems += RetiredKeys(earlier?.files ?? []).problems(in: file)
                report.problems += SharedTexts.problems(in: file)
            }
            report.problems += fields?.problems(in: file) ?? []
            if !isSealingHealth { report.problems += SensitiveMarks.problems(in: file) }
            guard let earlier else { return report }
            report.problems += DerivedFrom(earlier.contents).problems(of: file.derivedFrom)
            if let before = earlier.files.last {
                report.problems +=
                    QuestionnaireSessionMigrationRules(entries: file.migrations ?? [], old: before, new: file).problems
            }
        } catch {
            report.problems += error.problems
        }
        return report
    }
}
