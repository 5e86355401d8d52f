/// Why a command could not do its work: one line for a person, and an exit code of sysexits.h for a program.
struct CommandError: Error {
    let message: String
    let code: Int32

    init(_ message: String, code: Int32 = 1) { (self.message, self.code) = (message, code) }

    /// The words of the command were wrong.
    static func usage(_ message: String) -> CommandError { CommandError(message, code: 64) }
    /// Something that is needed is not to be had.
    static func unavailable(_ message: String) -> CommandError { CommandError(message, code: 69) }
}
