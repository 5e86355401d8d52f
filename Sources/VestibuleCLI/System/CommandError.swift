import BusProtocol
import JSONText

/// Why a command failed: a line for a person, and an exit code for a program, mostly of `sysexits.h`.
struct CommandError: Error {
    let message: String
    let code: Int32

    init(_ message: String, code: Int32 = 1) { (self.message, self.code) = (message, code) }

    /// A service refused what the command asked, or did not answer.
    init(_ error: BusError) {
        self.init("\(error.code): \(error.detail)")
    }

    /// The arguments of the command are wrong.
    static func usage(_ message: String) -> CommandError { CommandError(message, code: 64) }
    /// Something that the command needs is not available.
    static func unavailable(_ message: String) -> CommandError { CommandError(message, code: 69) }
    /// A text is not JSON. Shows the line and marks the character.
    ///
    /// - Parameter name: the kind of text: a file, or the body of a message.
    static func notJSON(_ text: [UInt8], of name: String, _ error: JSONTextError) -> CommandError {
        let place = "\(name):\(error.line):\(error.column)"
        let lines = ["\(place): not JSON: \(error.message)"] + error.excerpt(of: text)
        return CommandError(lines.joined(separator: "\n"), code: 65)
    }
}
