import Foundation

/// What the kernel says of processes of this machine.
enum ProcessTable {
    /// Whether somebody stopped it (SIGSTOP, a debugger): it does nothing until it may go on.
    static func isStopped(_ process: pid_t) -> Bool {
        // After the program's name, which stands in brackets and may hold anything, comes the state.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let state = text.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state == "T" || state == "t"
    }
}
