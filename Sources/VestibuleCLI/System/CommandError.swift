/// Why a command failed: a line for a person, and an exit code for a program, mostly of `sysexits.h`.
struct CommandError: Error {
    let message: String
    let code: Int32

    init(_ message: String, code: Int32 = 1) { (self.message, self.code) = (message, code) }

    /// The arguments of the command are wrong.
    static func usage(_ message: String) -> CommandError { CommandError(message, code: 64) }
    /// Something that the command needs is not available.
    static func unavailable(_ message: String) -> CommandError { CommandError(message, code: 69) }
}
