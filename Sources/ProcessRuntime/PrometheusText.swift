import BusRuntime
import EventLoop

/// Metrics in the text format of Prometheus.
///
/// - Source: Prometheus, "Exposition formats", text format 0.0.4: all lines of a family must be together.
package struct PrometheusText {
    /// The kinds of metrics.
    package enum Kind: String { case counter, gauge, histogram }

    private struct Family {
        let kind: Kind
        let help: String
        var lines: [String] = []
    }

    private var families: [String: Family] = [:]

    /// Makes an empty text.
    package init() {}

    /// Labels in the order of writing.
    package typealias Labels = [(name: String, value: String)]

    /// Adds a counter or a gauge with a whole number.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ labels: Labels, _ value: Int) {
        family(name, kind, help) { $0.append("\(name)\(Self.text(labels)) \(value)") }
    }

    /// Adds a gauge that may have a fraction.
    package mutating func add(_ name: String, _ help: String, _ labels: Labels, _ value: Double) {
        family(name, .gauge, help) { $0.append("\(name)\(Self.text(labels)) \(value)") }
    }

    /// Adds a histogram, whose name ends in `_seconds`. It leaves out a histogram of a build with other bounds, because
    /// its counts stand for other times.
    package mutating func add(_ name: String, _ help: String, _ labels: Labels, _ histogram: Histogram) {
        guard histogram.counts.count == Histogram.bounds.count + 1 else { return }
        family(name, .histogram, help) { lines in
            var below = 0
            for (index, count) in histogram.counts.enumerated() {
                below += count
                let bound = index < Histogram.bounds.count ? "\(Double(Histogram.bounds[index]) / 1e6)" : "+Inf"
                lines.append("\(name)_bucket\(Self.text(labels + [("le", bound)])) \(below)")
            }
            lines.append("\(name)_sum\(Self.text(labels)) \(Double(histogram.total) / 1e6)")
            lines.append("\(name)_count\(Self.text(labels)) \(below)")
        }
    }

    /// The whole text in UTF-8, families sorted by name.
    package var bytes: [UInt8] {
        let text = families.sorted { $0.key < $1.key }.map { name, family in
            "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.kind.rawValue)\n"
                + family.lines.map { "\($0)\n" }.joined()
        }
        return Array(text.joined().utf8)
    }

    private mutating func family(_ name: String, _ kind: Kind, _ help: String, _ write: (inout [String]) -> Void) {
        write(&families[name, default: Family(kind: kind, help: help)].lines)
    }

    private static func text(_ labels: Labels) -> String {
        "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }
}
