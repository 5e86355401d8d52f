import JSONText

/// Whether the audit trails are as they were written.
enum AuditCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"], mostWords: 2)
        guard arguments.rest.first == "verify" else {
            throw CommandError.usage("expected vestibule audit verify, with a service or without")
        }
        let service = arguments.rest.dropFirst().first
        if let service, !StateFolder.services.contains(service) {
            throw CommandError.usage("\(service) is no service with an audit trail")
        }
        let lines = try ServiceTables.each(state: arguments["--state"]) { all in
            let asked = all.filter { service == nil || $0.service == service }
            guard !asked.isEmpty else {
                throw CommandError.unavailable("the environment has no connection string of \(service ?? "a service")")
            }
            return try asked.flatMap { try $0.verifyAudit() }
        }
        if arguments.has("--json") {
            say(String(decoding: CanonicalJSON.bytes(of: .array(lines)), as: UTF8.self))
        } else {
            say(AuditText.page(of: lines))
        }
        let findings = lines.filter { $0["finding"] != nil }.count
        guard findings == 0 else {
            throw CommandError("the audit trails do not hold: \(findings) finding\(findings == 1 ? "" : "s")", code: 65)
        }
    }
}

/// What came of a verification, for a person to read.
enum AuditText {
    static func page(of lines: [JSONValue]) -> String {
        let (counts, findings) = (lines.filter { $0["finding"] == nil }, lines.filter { $0["finding"] != nil })
        let columns = ["service", "rows", "chains", "anchors", "file", "findings"]
        let rows = counts.map { line in
            columns.map { column in
                switch column {
                case "file": line["file"]?.boolValue == true ? "compared" : "none"
                case "findings": "\(findings.filter { $0["service"] == line["service"] }.count)"
                default: line[column]?.stringValue ?? line[column]?.integerValue.map { "\($0)" } ?? "-"
                }
            }
        }
        let table = TextTable.text(of: [columns] + rows)
        guard !findings.isEmpty else { return table }
        let found = findings.map { finding in
            let chain = finding["chain"]?.stringValue.map { "chain \($0)" } ?? "anchors"
            return "\(finding["service"]?.stringValue ?? ""), \(chain): \(finding["finding"]?.stringValue ?? "")"
        }
        return "\(table)\n\n\(found.joined(separator: "\n"))"
    }
}
