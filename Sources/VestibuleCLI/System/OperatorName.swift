import Foundation

/// The name of the person who uses the command. Audit trails keep it for good.
enum OperatorName {
    /// - Parameter word: the value of `--operator`. Without it, this returns the name of the login session.
    static func given(_ word: String?) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let name = word ?? environment["SUDO_USER"] ?? environment["USER"] ?? environment["LOGNAME"] ?? ""
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw CommandError.usage("--operator NAME must say who you are, in at most 64 visible ASCII characters")
        }
        return name
    }
}
