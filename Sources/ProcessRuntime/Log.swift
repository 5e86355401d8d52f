import BusProtocol
import BusRuntime
import Foundation
import JSONText

/// A structured log: one JSON object per line on standard error. It never contains personal data or secrets.
package struct Log: Sendable {
    /// The importance of a line.
    package enum Level: String, Sendable, CaseIterable, Comparable {
        case debug, info, warning, error

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }
        package static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }
    }

    private let service: ServiceName
    private let instance: Identifier
    private let threshold: Level
    private let sink: @Sendable ([UInt8]) -> Void

    /// Makes a log that writes lines of this level and higher.
    package init(
        service: ServiceName, instance: Identifier, threshold: Level = .info,
        sink: @escaping @Sendable ([UInt8]) -> Void = Log.standardError
    ) {
        self.service = service
        self.instance = instance
        self.threshold = threshold
        self.sink = sink
    }

    /// Writes whole lines in order, on its own thread.
    package static let standardError: @Sendable ([UInt8]) -> Void = { LogWriter.standardError.append($0) }

    /// The part of an error that may be logged: its ``LogNamed/logName`` or its type. Its text may contain personal
    /// data.
    package static func name(of error: any Error) -> String {
        (error as? any LogNamed)?.logName ?? "\(type(of: error))"
    }

    /// Writes a line for developers.
    package func debug(
        _ event: String, _ fields: @autoclosure () -> [String: JSONValue] = [:], trace: TraceContext? = nil
    ) { record(.debug, event, fields, trace) }
    /// Writes a line about normal operation.
    package func info(
        _ event: String, _ fields: @autoclosure () -> [String: JSONValue] = [:], trace: TraceContext? = nil
    ) { record(.info, event, fields, trace) }
    /// Writes a line about a problem that the process can handle.
    package func warning(
        _ event: String, _ fields: @autoclosure () -> [String: JSONValue] = [:], trace: TraceContext? = nil
    ) { record(.warning, event, fields, trace) }
    /// Writes a line about a problem that needs an operator.
    package func error(
        _ event: String, _ fields: @autoclosure () -> [String: JSONValue] = [:], trace: TraceContext? = nil
    ) { record(.error, event, fields, trace) }

    /// - Parameter fields: evaluated only if the line is written.
    private func record(_ level: Level, _ event: String, _ fields: () -> [String: JSONValue], _ trace: TraceContext?) {
        guard level >= threshold else { return }
        var line = fields()
        line["at"] = .string(Timestamp.now().description)
        line["level"] = .string(level.rawValue)
        line["service"] = .string(service.rawValue)
        line["instance"] = .string(instance.description)
        line["event"] = .string(event)
        if let trace { line["traceId"] = .string(trace.traceID) }
        sink(CanonicalJSON.bytes(of: .object(line)) + [UInt8(ascii: "\n")])
    }
}
