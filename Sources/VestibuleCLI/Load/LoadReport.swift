import Foundation
import JSONText

/// The figures of a load that has ended.
struct LoadReport: Sendable {
    let plan: LoadPlan
    let span: LoadRunner.Span
    let actions: LoadTally
    let calls: [String: LoadTally]
    let lag: LatencyHistogram
    let waits: Int
    let connections: Int

    /// The number of actions a second that succeeded.
    var achieved: Double { Double(actions.done) / span.seconds }

    /// The reasons why the figures do not count; empty if they count.
    var flaws: [GeneratorLimit] {
        LoadVerdict.flaws(
            lag: lag, times: actions.times, waits: waits, calls: calls.values.reduce(0) { $0 + $1.times.count },
            busy: span.busy)
    }

    /// The actions and the calls, by name. A scenario whose action is one call has no row of its own.
    private var rows: [(name: String, tally: LoadTally)] {
        let calls = calls.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return calls.count == 1 ? calls : [(plan.scenario.unit, actions)] + calls
    }

    // MARK: Text

    /// A table for people.
    var text: String {
        let head =
            ["", "count", "a second"] + LoadVerdict.shares.map { "p\(Self.percent($0))" } + ["greatest", "failed"]
        let table = rows.map { name, tally in
            [name, "\(tally.times.count)", String(format: "%.1f", Double(tally.times.count) / span.seconds)]
                + LoadVerdict.shares.map { Self.time(tally.times.quantile($0)) }
                + [Self.time(tally.times.greatest), "\(tally.failed)"]
        }
        var lines = [
            String(
                format:
                    "\(plan.scenario.rawValue): %.1f \(plan.scenario.unit) a second intended for %d s, %.1f succeeded",
                plan.rate, plan.seconds, achieved),
            "", TextTable.text(of: [head] + table), "",
        ]
        for (name, tally) in rows {
            for (code, count) in tally.errors.sorted(by: { $0.key < $1.key }) {
                lines.append("\(name): \(count) \(code)")
            }
        }
        lines.append(
            """
            Generator: started at p50 \(Self.time(lag.quantile(0.5))) and at p99.9 \(Self.time(lag.quantile(0.999))) late, \
            \(String(format: "%.0f", span.busy * 100)) % of a processor, \(connections) connections
            """)
        if rows.contains(where: { $0.tally.errors["rate_limited"] != nil }) { lines.append(Self.limitHint) }
        return lines.joined(separator: "\n")
    }

    private static let limitHint =
        "The system limits the rate of calls: start it with the variables that vestibule --help names under load."

    /// Microseconds for people.
    static func time(_ microseconds: UInt64) -> String {
        switch microseconds {
        case ..<1_000: "\(microseconds) µs"
        case ..<1_000_000: String(format: "%.2f ms", Double(microseconds) / 1_000)
        default: String(format: "%.2f s", Double(microseconds) / 1_000_000)
        }
    }

    /// A share as a percentage without zeros at its end.
    static func percent(_ share: Double) -> String { String(format: "%g", share * 100) }

    // MARK: JSON

    /// The figures for programs. Times are in microseconds.
    var json: JSONValue {
        [
            "scenario": .string(plan.scenario.rawValue), "unit": .string(plan.scenario.unit),
            "seconds": .integer(Int64(plan.seconds)), "intendedRate": .number(plan.rate),
            "achievedRate": .number(achieved), "valid": .bool(flaws.isEmpty),
            "flaws": .array(flaws.map { .string($0.sentence) }),
            "generator": [
                "lag": Self.json(of: lag), "busy": .number(span.busy), "connections": .integer(Int64(connections)),
                "waits": .integer(Int64(waits)),
            ],
            "actions": json(of: actions), "calls": .object(calls.mapValues(json)),
        ]
    }

    private func json(of tally: LoadTally) -> JSONValue {
        [
            "count": .integer(Int64(tally.times.count)), "times": Self.json(of: tally.times),
            "errors": .object(tally.errors.mapValues { .integer(Int64($0)) }),
        ]
    }

    private static func json(of times: LatencyHistogram) -> JSONValue {
        var members: [String: JSONValue] = ["greatest": .integer(Int64(times.greatest))]
        for share in LoadVerdict.shares { members["p\(percent(share))"] = .integer(Int64(times.quantile(share))) }
        return .object(members)
    }
}
