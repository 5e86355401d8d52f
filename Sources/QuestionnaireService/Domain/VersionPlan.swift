import BusProtocol
import JSONText

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
    ///   - earlier: every published version, the oldest first.
    /// - Throws: every problem of the draft.
    static func make(
        _ draft: JSONValue, of key: String, earlier: [DefinitionFile], contents: [JSONValue], today: CivilDate
    ) throws(DefinitionError) -> VersionPlan {
        let report = report(on: draft, of: key, earlier: earlier, contents: contents, today: today)
        guard let definition = report.definition, report.problems.isEmpty else {
            throw DefinitionError(problems: report.problems)
        }
        let file = try DefinitionParser.read(definition.canonicalText).file
        let changes = earlier.last.map { DefinitionDifference(from: $0, to: file).changes } ?? []
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
    static func report(
        on draft: JSONValue, of key: String, earlier: [DefinitionFile], contents: [JSONValue], today: CivilDate
    ) -> Report {
        var report = Report()
        var members = draft.objectValue ?? [:]
        // The server counts the versions, and says what a draft is.
        members["version"] = .integer((earlier.last?.version ?? 0) + 1)
        (members["status"], members["contentHash"]) = (nil, nil)
        if members["key"] == nil { members["key"] = .string(key) }
        let bytes = CanonicalJSON.bytes(of: .object(members))
        do throws(DefinitionError) {
            let definition = try DefinitionParser.parse(bytes)
            report.definition = definition
            if definition.key != key {
                report.problems.append(
                    DefinitionProblem(
                        code: "malformed", pointer: "/key", message: "This is the key of another questionnaire.",
                        keys: [definition.key]))
            }
            let gate = PublishGate.check(definition, today: today, declared: nil)
            report.problems += gate.problems
            (report.warnings, report.shortest, report.longest) = (gate.warnings, gate.shortest, gate.longest)
            // Who goes back to an older version takes up its keys for what they stood for.
            if !contents.contains(where: { isSame($0, .object(members)) }) {
                report.problems += RetiredKeys(earlier).problems(in: try DefinitionParser.read(bytes).file)
            }
            let file = try DefinitionParser.read(bytes).file
            report.problems += DerivedFrom(contents).problems(in: file)
            if let before = earlier.last {
                report.problems += MigrationRules(entries: file.migrations ?? [], old: before, new: file).problems
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
