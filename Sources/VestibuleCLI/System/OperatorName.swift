import Foundation

/// Who uses the command: it stands in audit trails for good.
enum OperatorName {
    /// - Parameter word: of `--operator`; else whose session it is.
    static func given(_ word: String?) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let name = word ?? environment["SUDO_USER"] ?? environment["USER"] ?? environment["LOGNAME"] ?? ""
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw CommandError.usage("--operator NAME must say who you are, in 64 visible ASCII characters at the most")
        }
        return name
    }
}
