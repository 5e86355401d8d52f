import BusProtocol
import Foundation
import JSONText

/// `vestibule questionnaire import`, `publish` and `delete-draft`. An administrator does the same over HTTP.
enum DraftCommand {
    // MARK: import

    /// Makes a draft of a file, and lists everything that keeps it from being published, with lines as a compiler does.
    static func load(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], mostWords: 1)
        guard let file = arguments.rest.first else { throw QuestionnaireCommand.commands.misuse(of: "import") }
        let (document, key) = try read(file)
        let bus = try BusAccess(state: arguments["--state"])
        let (draft, report) = try told {
            try BusCommand.waiting {
                let made = CreateDraft(questionnaire: key, definition: document.root.value)
                let draft = try await BusCommand.asOperator(made, bus).number
                let check = CheckDraft(questionnaire: key, draft: String(draft))
                return (draft, try await BusCommand.asOperator(check, bus))
            }
        }
        for line in DraftText.lines(of: report, in: file, JSONPositions(document)) { say(line) }
        say("This is draft \(draft) of \(key).")
        guard report.publishable else {
            throw CommandError(
                "the draft cannot be published: correct the file and import it again", code: 65)
        }
    }

    private static func read(_ file: String) throws -> (document: JSONDocument, key: String) {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandError("\(file) cannot be read", code: 66)
        }
        let document: JSONDocument
        do throws(JSONTextError) {
            document = try JSONDocument(Array(data), limits: CreateDraft.rules.limits)
        } catch {
            let place = "\(file):\(error.line):\(error.column)"
            let lines = ["\(place): not JSON: \(error.message)"] + error.excerpt(of: Array(data))
            throw CommandError(lines.joined(separator: "\n"), code: 65)
        }
        guard let key = document.root["key"]?.string else {
            throw CommandError("\(file) has no \"key\", which names the questionnaire", code: 65)
        }
        return (document, key)
    }

    // MARK: publish

    /// Makes a draft the next version. The service refuses a change that is graver than the accepted class.
    static func publish(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state", "--accept"], mostWords: 2)
        let (key, draft) = try draft(arguments, "publish")
        let accepted = arguments["--accept"]
        guard accepted.map({ classes.contains($0) }) ?? true else {
            throw CommandError.usage("--accept takes one of \(classes.joined(separator: ", "))")
        }
        let bus = try BusAccess(state: arguments["--state"])
        let published = try told {
            try BusCommand.waiting {
                try await BusCommand.asOperator(
                    PublishDraft(questionnaire: key, draft: draft, acceptClass: accepted), bus)
            }
        }
        for line in DraftText.lines(of: published, key) { say(line) }
    }

    private static let classes = ["editorial", "additive", "rescore", "reask", "breaking"]

    // MARK: delete-draft

    static func delete(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], mostWords: 2)
        let (key, draft) = try draft(arguments, "delete-draft")
        let bus = try BusAccess(state: arguments["--state"])
        _ = try told {
            try BusCommand.waiting {
                try await BusCommand.asOperator(DeleteDraft(questionnaire: key, draft: draft), bus)
            }
        }
        say("Draft \(draft) of \(key) is deleted.")
    }

    // MARK: Parts

    /// Reads the key of a questionnaire and the number of a draft from the arguments.
    private static func draft(_ arguments: Arguments, _ verb: String) throws -> (key: String, number: String) {
        guard arguments.rest.count == 2, let number = Int64(arguments.rest[1]), number > 0 else {
            throw QuestionnaireCommand.commands.misuse(of: verb)
        }
        return (arguments.rest[0], String(number))
    }

    /// Turns a refusal of the service into an error that says what to do.
    private static func told<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as BusError {
            for line in DraftText.lines(of: error) { say(line) }
            let isInvalid = error.code == ErrorCode.definitionInvalid.name
            throw CommandError(DraftText.summary(of: error), code: isInvalid ? 65 : 1)
        }
    }
}

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

    static func lines(of published: VersionPublished, _ key: String) -> [String] {
        let changes = (published.changes ?? []).map {
            change($0.changeClass, $0.kind, $0.keys, $0.pointer)
        }
        let whole = published.changeClass.map { ", which is \($0)" } ?? ""
        let lines = changes + ["Version \(published.version) of \(key) is published\(whole)."]
        guard published.openSessions > 0 else { return lines }
        return lines + [
            "\(count(published.openSessions, "open session")) of older versions, with \(count(published.answers, "answer")) "
                + "to what the change touches: vestibule questionnaire migrate \(key) moves them."
        ]
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

    static func summary(of error: BusError) -> String {
        let sentence = "\(error.code): \(error.detail)"
        switch error.code {
        case ErrorCode.changeNotAccepted.name:
            let details = error.details ?? [:]
            let changeClass = details["changeClass"]?.stringValue ?? ""
            let sessions = count(details["openSessions"]?.integerValue ?? 0, "open session")
            let answers = count(details["answers"]?.integerValue ?? 0, "answer")
            return sentence + " The change is \(changeClass). It affects \(sessions) and \(answers). "
                + "To publish it anyway, add --accept \(changeClass)."
        case ErrorCode.definitionInvalid.name:
            return sentence + " Correct the file, import it again and publish that draft."
        case ErrorCode.notFound.name:
            return sentence
                + " vestibule questionnaire ls KEY lists the drafts, and vestibule questionnaire import FILE makes one."
        default: return sentence
        }
    }

    private static func change(_ changeClass: String, _ kind: String, _ keys: [String], _ pointer: String) -> String {
        "\(changeClass): \(kind)\(keys.isEmpty ? "" : " (\(keys.joined(separator: ", ")))") [\(pointer)]"
    }

    private static func count(_ number: Int64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
