import BusProtocol
import Documents
import JSONText
import ServiceRuntime

/// The commands of profile's program for plan files. With one of them, the program does not serve.
enum PlanCommand {
    /// `--plan-schema` prints the JSON Schema of a plan file.
    ///
    /// - Parameter arguments: of the program, without its name.
    static func runIfAsked(_ arguments: [String]) {
        if arguments == ["--plan-schema"] {
            print(PlanFile.schemaText, terminator: "")
            ServiceProcess.end(0)
        }
        // A service without a library does not start, and says why.
        guard let library = try? FieldLibrary.shipped.get().library else { return }
        DocumentCommand.runIfAsked(
            arguments, .plan, check: { try answer($0, $1, $2, library) }, read: { try PlanDocument($0).file },
            compare: { PlanDifference(from: $0, to: $1, library) })
    }

    /// - Parameters:
    ///   - system: the state of a running system. It has the published `versions` of the plan, and the current versions
    ///     of all `plans`. It also has the keys of the `questionnaires`, and the newest `library` of fields.
    ///   - library: of this release.
    private static func answer(
        _ name: String, _ bytes: [UInt8], _ system: JSONValue?, _ library: FieldLibrary
    ) throws -> DocumentCommand.Answer {
        let neighbours = try system.map { system in
            PlanNeighbours(
                plans: try list("plans", of: system).map { try PlanDocument($0).file },
                questionnaires: Set(try list("questionnaires", of: system).compactMap(\.stringValue)))
        }
        let library =
            try system?["library"].map { try FieldLibrary.InUse(FieldLibraryDocument($0)).library } ?? library
        let earlier = try system.map { try list("versions", of: $0) }
        let check = DocumentCheck(bytes) { draft in
            DocumentReport(
                problems: PlanPublication.report(
                    on: draft, of: nil, after: earlier, library, beside: neighbours, now: .now()
                ).problems)
        }
        return .init(
            json: [
                "findings": check.json,
                "comparedVersions": earlier.map { .integer(Int64($0.count)) } ?? .null,
            ], lines: check.lines(of: name) + [note(earlier)].compactMap(\.self), isWell: check.errorCount == 0)
    }

    private static func list(_ member: String, of system: JSONValue) throws(DocumentError) -> [JSONValue] {
        guard let list = system[member]?.arrayValue else { throw DocumentError(problems: []) }
        return list
    }

    private static func note(_ earlier: [JSONValue]?) -> String? {
        guard let earlier else {
            return "note: no system runs here, so it was not compared with other plans and with questionnaires"
        }
        return earlier.last?["version"]?.integerValue.map {
            "note: it was compared with the published versions, and would be version \($0 + 1)"
        }
    }
}
