import BusProtocol
import Foundation
import JSONText

/// How and when a process ended.
struct ProcessEnd: Sendable, Equatable {
    /// `nil` if a signal ended the process.
    let exitCode: Int32?
    /// For example `SIGKILL`; `nil` if the process ended by itself.
    let signal: String?
    let at: Timestamp

    /// - Parameter status: the status from `waitpid`.
    init(_ status: Int32, at: Timestamp = .now()) {
        exitCode = Subprocess.exitCode(of: status)
        signal = exitCode == nil ? Self.name(of: status & 0x7f) : nil
        self.at = at
    }

    init?(_ value: JSONValue?) {
        guard let at = value?["at"]?.stringValue.flatMap({ Timestamp($0) }) else { return nil }
        exitCode = value?["exitCode"]?.integerValue.map { Int32(clamping: $0) }
        signal = value?["signal"]?.stringValue
        self.at = at
    }

    /// The members for a log line or the run file, without the time.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let exitCode { members["exitCode"] = .integer(Int64(exitCode)) }
        if let signal { members["signal"] = .string(signal) }
        return members
    }

    var json: JSONValue { .object(members.merging(["at": .string(at.description)]) { $1 }) }

    /// For example `exit code 78 at 2026-02-20T09:00:00Z`.
    var text: String { "\(signal ?? "exit code \(exitCode ?? 0)") at \(at)" }

    private static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
            SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE",
            SIGTERM: "SIGTERM",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
