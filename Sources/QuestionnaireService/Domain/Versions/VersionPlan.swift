import BusProtocol
import JSONText

/// The published versions of a questionnaire, the oldest first.
struct EarlierVersions {
    let contents: [JSONValue]
    let files: [DefinitionFile]

    /// - Throws: that one of them is no definition.
    init(_ contents: [JSONValue]) throws(DefinitionError) {
        self.contents = contents
        files = try contents.map { content throws(DefinitionError) in
            try DefinitionParser.read(CanonicalJSON.bytes(of: content)).file
        }
    }
}

/// What publishing a draft would do, decided before anything is written.
struct VersionPlan: Sendable {
    let definition: Definition
    /// Against the newest version; `nil` for a first one.
    let changes: [DefinitionChange]

    var changeClass: ChangeClass? { changes.map(\.changeClass).max() }

    /// Questions whose answers the change touches: they are asked again, or lose what they were given to.
    var touched: [String] {
        Set(changes.filter { $0.changeClass >= .reask }.compactMap(\.keys.first)).sorted()
    }

    /// - Parameters:
    ///   - draft: as it was written; its `version` is not looked at.
    /// - Throws: every problem of the draft.
    static func make(
        _ draft: JSONValue, of key: String, after earlier: EarlierVersions, fields: ExtractedFields? = nil,
        today: CivilDate
    ) throws(DefinitionError) -> VersionPlan {
        let report = report(on: draft, of: key, after: earlier, fields: fields, today: today)
        guard let definition = report.definition, report.problems.isEmpty else {
            throw DefinitionError(problems: report.problems)
        }
        let file = try DefinitionParser.read(definition.canonicalText).file
        let changes = earlier.files.last.map { DefinitionDifference(from: $0, to: file).changes } ?? []
        return VersionPlan(definition: definition, changes: changes)
    }

    struct Report {
        /// `nil` where it cannot be read.
        var definition: Definition?
        var problems: [DefinitionProblem] = []
        var warnings: [DefinitionProblem] = []
        var shortest: Int?
        var longest: Int?
    }

    /// Everything that can be said of a draft.
    ///
    /// - Parameters:
    ///   - key: `nil` where the draft alone names its questionnaire.
    ///   - earlier: `nil` where they are not known; what the draft says of them is not looked at then.
    ///   - fields: `nil` where they are not known, or no question names one.
    static func report(
        on draft: JSONValue, of key: String?, after earlier: EarlierVersions?, fields: ExtractedFields? = nil,
        today: CivilDate
    ) -> Report {
        var report = Report()
        var members = draft.objectValue ?? [:]
        // The server counts the versions, and says what a draft is.
        members["version"] = .integer((earlier?.files.last?.version ?? 0) + 1)
        (members["status"], members["contentHash"]) = (nil, nil)
        if members["key"] == nil { members["key"] = key.map { .string($0) } }
        let bytes = CanonicalJSON.bytes(of: draft.objectValue == nil ? draft : .object(members))
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
            // Who goes back to an older version publishes it as it was, its keys for what they stood for.
            if earlier?.contents.contains(where: { isSame($0, .object(members)) }) != true {
                report.problems += RetiredKeys(earlier?.files ?? []).problems(in: file)
                report.problems += SharedTexts.problems(in: file)
            }
            report.problems += fields?.problems(in: file) ?? []
            guard let earlier else { return report }
            report.problems += DerivedFrom(earlier.contents).problems(in: file)
            if let before = earlier.files.last {
                report.problems +=
                    SessionMigrationRules(entries: file.migrations ?? [], old: before, new: file).problems
            }
        } catch {
            report.problems += error.problems
        }
        return report
    }

    private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
        func content(_ value: JSONValue) -> [String: JSONValue] {
            // Where it comes from, and what it says of the answers to the version before it, are matters of their own.
            (value.objectValue ?? [:]).filter { !["version", "derivedFrom", "migrations"].contains($0.key) }
        }
        return content(a) == content(b)
    }
}
