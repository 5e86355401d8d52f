import JSONText

/// `vestibule audit`: checks that nobody has changed the audit trails.
enum AuditCommand {
    private static let commands = CommandGroup(
        name: "audit", usages: ["verify [SERVICE]"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"], mostWords: 2)
        guard arguments.rest.first == "verify" else {
            throw commands.misuse(of: arguments.rest.first)
        }
        let service = arguments.rest.dropFirst().first
        if let service, !StateFolder.services.contains(service) {
            throw CommandError.usage("\(service) is not a service with an audit trail")
        }
        // The command checks the other trails even if it cannot read one.
        let looks = try ServiceTables.each(state: arguments["--state"]) { all in
            let asked = all.filter { service == nil || $0.service == service }
            guard !asked.isEmpty else {
                throw CommandError.unavailable("the environment has no connection string of \(service ?? "a service")")
            }
            return zip(asked, asked.together { try $0.verifyAudit() }).map { tables, result in
                result.mapError { AuditText.unread(tables.service, $0) }
            }
        }
        let lines = looks.flatMap { (try? $0.get()) ?? [] }
        if arguments.has("--json") {
            say(String(decoding: CanonicalJSON.bytes(of: .array(lines)), as: UTF8.self))
        } else {
            say(AuditText.page(of: lines))
        }
        let findings = lines.filter { $0["finding"] != nil }.count
        let unread = looks.compactMap { look in
            if case .failure(let error) = look { error } else { nil }
        }
        if findings > 0 {
            let count = "the audit trails do not hold: \(findings) finding\(findings == 1 ? "" : "s")"
            throw CommandError(([count] + unread.map(\.message)).joined(separator: "; "), code: 65)
        }
        if let first = unread.first {
            throw CommandError(unread.map(\.message).joined(separator: "; "), code: first.code)
        }
    }
}

/// The result of a verification as text.
enum AuditText {
    /// The error with the reason why the command could not read the trail of a service.
    static func unread(_ service: String, _ error: any Error) -> CommandError {
        let (reason, code) = (error as? CommandError).map { ($0.message, $0.code) } ?? ("\(error)", 1)
        return CommandError("the trail of \(service) was not read: \(reason)", code: code)
    }

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
