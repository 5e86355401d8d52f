import BusProtocol
import BusRuntime
import EventLoop
import JSONText

/// `vestibule funnel`: draws how far people came in the onboarding, and where they left.
enum FunnelCommand {
    /// The length of the longest bar in characters.
    private static let width = 40

    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(
            words, options: ["--state", "--from", "--to", "--plan", "--version", "--entry"], flags: ["--json"],
            mostWords: 0)
        let access = try BusAccess(state: arguments["--state"])
        let request = GetFunnel(
            from: try day("--from", arguments), to: try day("--to", arguments), plan: arguments["--plan"],
            version: try version(arguments), entry: arguments["--entry"])
        let funnel: Funnel
        do {
            funnel = try BusCommand.waiting { try await BusCommand.asOperator(request, access) }
        } catch let error as BusError {
            throw CommandError(error)
        }
        if arguments.has("--json") {
            say(String(decoding: try WireJSON.encode(funnel), as: UTF8.self))
        } else {
            say(drawn(funnel))
        }
    }

    private static func day(_ option: String, _ arguments: Arguments) throws -> CivilDate? {
        guard let text = arguments[option] else { return nil }
        guard let day = CivilDate(text) else { throw CommandError.usage("\(option) takes a day like 2026-02-28") }
        return day
    }

    private static func version(_ arguments: Arguments) throws -> Int64? {
        guard let text = arguments["--version"] else { return nil }
        guard let version = Int64(text), version > 0 else {
            throw CommandError.usage("--version takes a number from 1")
        }
        return version
    }

    static func drawn(_ funnel: Funnel) -> String {
        let most = max(1, funnel.steps.map(\.people).max() ?? 1)
        let rows = funnel.steps.map { step in
            [
                step.key.replacing("_", with: " "), "\(step.people)",
                step.dropOffPercent.map { $0 > 0 ? "-\($0) %" : "" } ?? "",
                step.medianSeconds.map { duration($0) } ?? "",
                String(repeating: "█", count: Int((Int64(width) * step.people + most - 1) / most)),
            ]
        }
        let place = funnel.plan.map { " with \($0.key), version \($0.version)," } ?? ""
        var text =
            "People who began\(place) from \(funnel.from) to \(funnel.to) (UTC), and how far they came\n\n"
            + TextTable.text(of: [["step", "people", "left", "median", ""]] + rows)
        if let total = funnel.total { text += "\n\n" + sentence(total) }
        if let entries = funnel.entries, entries.contains(where: { $0.entry != nil }) {
            let rows = entries.map {
                [$0.entry ?? "none", "\($0.people)", "\($0.completed)", $0.withinDayPercent.map { "\($0) %" } ?? ""]
            }
            text += "\n\n" + TextTable.text(of: [["entry", "people", "complete", "in 24 h"]] + rows)
        }
        return text
    }

    private static func sentence(_ total: Funnel.Total) -> String {
        var text = "\(total.completed) of \(total.people) are complete"
        if let median = total.medianSeconds, let p90 = total.p90Seconds {
            text += ", half of them within \(duration(median)), nine of ten within \(duration(p90))"
        }
        return text + (total.withinDayPercent.map { ". \($0) % were complete within 24 hours." } ?? ".")
    }

    /// For example `41 s`, `3 min`, `2.5 h` or `4.0 d`.
    static func duration(_ seconds: Double) -> String {
        func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
        return switch seconds {
        case ..<90: "\(Int(seconds.rounded())) s"
        case ..<5400: "\(Int((seconds / 60).rounded())) min"
        case ..<172_800: "\(tenths(seconds / 3600)) h"
        default: "\(tenths(seconds / 86_400)) d"
        }
    }
}
