import BusProtocol
import Foundation
import JSONText

/// The log of the supervisor. Its lines look like those of the services, and its file is beside theirs.
struct SupervisorLog: Sendable {
    enum Level: String { case info, warning, error }

    let path: String

    /// Writes a line to the file, and to standard output if that is a terminal.
    func note(_ level: Level, _ event: String, _ fields: [String: JSONValue] = [:]) {
        var line = fields
        line["at"] = .string(Timestamp.now().description)
        line["level"] = .string(level.rawValue)
        line["service"] = "supervisor"
        line["event"] = .string(event)
        let text = String(decoding: CanonicalJSON.bytes(of: .object(line)), as: UTF8.self)
        if isatty(1) == 1 { say(text) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        say(text, to: descriptor)
        close(descriptor)
    }
}
