import BusProtocol
import Database
import EventLoop
import JSONText

/// Verifies a service's audit trail from the command line, without a running replica.
///
/// It needs the connection string of the service's role, its key ring and the folder of the anchors.
enum AuditCommand {
    /// - Parameter words: the arguments after `--audit`.
    static func check(_ words: [String]) throws(ConfigurationError) {
        guard words == ["verify"] else { throw ConfigurationError("--audit: expected verify") }
    }

    /// - Returns: the lines to print: a JSON object with the counts, then one for each finding.
    /// - Throws: ``ConfigurationError`` if a variable is missing, or the errors of ``OperatorTables/with(_:_:_:)``.
    @Loop static func run(_ definition: ServiceDefinition, environment: [String: String]) async throws -> [String] {
        let configuration = try Configuration(
            variables: definition.allVariables, prefix: definition.prefix, environment: environment)
        let keys = try configuration.keyRing("\(definition.prefix)KEYS")
        let file = AuditAnchorFile(definition, configuration)?.read()
        return try await OperatorTables.with(definition, configuration) { database in
            let report = try await AuditVerifier(database: database, keys: keys).verify(against: file?.runs)
            let unreadable = (file?.unreadable ?? []).map {
                AuditReport.Finding(chain: nil, text: "line \($0) of the file of anchors is none")
            }
            return ([counts(of: report, hasFile: file != nil)] + (report.findings + unreadable).map { line($0) })
                .map { String(decoding: CanonicalJSON.bytes(of: $0), as: UTF8.self) }
        }
    }

    private static func counts(of report: AuditReport, hasFile: Bool) -> JSONValue {
        [
            "rows": .integer(report.rows), "chains": .integer(report.chains), "anchors": .integer(report.anchors),
            "file": .bool(hasFile),
        ]
    }

    private static func line(_ finding: AuditReport.Finding) -> JSONValue {
        ["chain": finding.chain.map { .string($0) } ?? .null, "finding": .string(finding.text)]
    }
}
