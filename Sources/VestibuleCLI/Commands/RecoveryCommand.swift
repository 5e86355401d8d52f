import BusProtocol
import Foundation
import JSONText

/// `vestibule recovery`: the review queue. It does not name the owner of the account, just as reviewers do not see the
/// owner.
enum RecoveryCommand {
    private static let commands = CommandGroup(
        name: "recovery", usages: ["ls", "show ID", "export ID", "approve ID --note TEXT", "reject ID --note TEXT"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(
            words, options: ["--state", "--operator", "--note", "--status"], flags: ["--json"], mostWords: 2)
        let bus = try BusAccess(state: arguments["--state"])
        do {
            switch (arguments.rest.first, arguments.rest.count) {
            case ("ls", 1): try list(bus, status: arguments["--status"], asJSON: arguments.has("--json"))
            case ("show", 2): try show(try id(arguments.rest[1]), bus, asJSON: arguments.has("--json"))
            case ("export", 2): try show(try id(arguments.rest[1]), bus, asJSON: true)
            case ("approve", 2), ("reject", 2): try decide(arguments, bus)
            default:
                throw commands.misuse(of: arguments.rest.first)
            }
        } catch let error as BusError {
            throw CommandError(error)
        }
    }

    private static func id(_ word: String) throws -> Identifier {
        guard let id = Identifier(word) else { throw CommandError.usage("\(word) is not the id of a recovery") }
        return id
    }

    private static func list(_ bus: BusAccess, status: String?, asJSON: Bool) throws {
        let queue = try BusCommand.waiting { try await BusCommand.asOperator(ListReviews(status: status), bus) }
        if asJSON { return say(String(decoding: try WireJSON.encode(queue), as: UTF8.self)) }
        guard !queue.cases.isEmpty else { return say("No recovery waits for a reviewer.") }
        let rows = queue.cases.map { summary in
            [
                summary.recoveryId.description, summary.status, RecoveryText.time(summary.requestedAt),
                summary.evidenceAt.map(RecoveryText.time) ?? "", summary.verdict ?? "",
                "\(summary.approvals) of \(summary.approvalsNeeded)",
                summary.reviewerUntil.map { "until \(RecoveryText.time($0))" } ?? "",
            ]
        }
        let head = ["recovery", "status", "requested", "evidence", "verdict", "approvals", "taken"]
        say(TextTable.text(of: [head] + rows))
    }

    private static func show(_ id: Identifier, _ bus: BusAccess, asJSON: Bool) throws {
        let page = try BusCommand.waiting { try await BusCommand.asOperator(GetReview(recoveryId: id), bus) }
        say(asJSON ? String(decoding: try WireJSON.encode(page), as: UTF8.self) : RecoveryText.page(page))
    }

    private static func decide(_ arguments: Arguments, _ bus: BusAccess) throws {
        guard let note = arguments["--note"], !note.isEmpty else {
            throw CommandError.usage("--note TEXT must give the reason, for other reviewers")
        }
        let request = DecideAsOperator(
            recoveryId: try id(arguments.rest[1]), isApproved: arguments.rest[0] == "approve", note: note,
            operatorName: try OperatorName.given(arguments["--operator"]))
        let decided = try BusCommand.waiting { try await BusCommand.asOperator(request, bus) }
        if decided.approvals < decided.approvalsNeeded, request.isApproved {
            say("\(decided.recoveryId) has one of two approvals. Another reviewer must approve it too.")
        } else {
            say("\(decided.recoveryId) is \(decided.status) now.")
        }
    }
}

/// A case as text, with times in the reader's time zone.
enum RecoveryText {
    static func time(_ time: Timestamp) -> String { self.time(time, in: .current) }

    static func time(_ time: Timestamp, in zone: TimeZone) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = zone
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss ZZZZZ"
        return formatter.string(from: Date(timeIntervalSince1970: Double(time.microsecondsSinceEpoch) / 1_000_000))
    }

    /// The text without characters that break the line, control the terminal or change the direction of writing.
    static func oneLine(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isPlain = ![.control, .lineSeparator, .paragraphSeparator].contains(
                        scalar.properties.generalCategory)
                    return isPlain && !scalar.properties.isBidiControl ? scalar : " "
                }))
    }

    static func page(_ page: ReviewPage, in zone: TimeZone = .current) -> String {
        let summary = page.summary
        var lines = [
            "recovery   \(summary.recoveryId)", "status     \(summary.status)",
            "requested  \(time(summary.requestedAt, in: zone))", "hold until \(time(summary.holdUntil, in: zone))",
            "approvals  \(summary.approvals) of \(summary.approvalsNeeded)",
        ]
        if let reason = page.reason { lines.append("reason     \(oneLine(reason))") }
        if let evidence = page.evidence {
            lines.append("evidence   \(oneLine(evidence)) (\(summary.verdict ?? "not judged yet"))")
        }
        for evidence in (page.earlierOwnerEvidence ?? []) + [page.ownerEvidence].compactMap(\.self) {
            lines.append("of owner   \(oneLine(evidence))")
        }
        if let proof = summary.proof { lines.append("has shown  \(proof)") }
        let trail = page.trail.map { entry in
            let details = entry.details.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return ["\(entry.sequence)", time(entry.at, in: zone), entry.act, details.joined(separator: " ")]
        }
        lines += ["", TextTable.text(of: [["", "at", "act", ""]] + trail)]
        if !page.notes.isEmpty {
            let notes = page.notes.map { [time($0.at, in: zone), $0.act, $0.reviewer, oneLine($0.note)] }
            lines += ["", TextTable.text(of: [["at", "decision", "by", "note"]] + notes)]
        }
        if !page.notices.isEmpty {
            let notices = page.notices.map { [time($0.at, in: zone), $0.about, "\($0.delivered)", "\($0.failed)"] }
            lines += ["", TextTable.text(of: [["at", "notice", "delivered", "failed"]] + notices)]
        }
        return lines.joined(separator: "\n")
    }
}
