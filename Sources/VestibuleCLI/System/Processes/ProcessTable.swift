import Foundation

/// The kernel's information about processes.
enum ProcessTable {
    /// Whether a process was stopped, by `SIGSTOP` or a debugger, and waits to be continued.
    static func isStopped(_ process: pid_t) -> Bool {
        // The state follows the program's name, which is in brackets and may contain any character.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let state = text.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state == "T" || state == "t"
    }
}
