import Foundation

/// Starts the processes of a system, starts again what ends, and stops all of them in order.
final class Supervisor {
    struct Program {
        let name: String
        let arguments: [String]
        let environment: [String: String]
        let log: String
    }

    private struct Child {
        let program: Program
        var process: pid_t
        /// Since the supervisor started it.
        var restarts = 0
        /// Restarts without a long life between them: they decide how long the next one waits.
        var restartsInARow = 0
        /// Of its last end; `nil` where a signal ended it.
        var exitCode: Int32?
        var startedAt = Date()
        /// When it is started again; `nil` while it runs.
        var restartAt: Date?
    }

    private var children: [Child] = []
    private var signals = sigset_t()
    private let report: ([(name: String, process: pid_t, restarts: Int)]) -> Void

    /// - Parameter report: called with the processes whenever they change.
    init(report: @escaping ([(name: String, process: pid_t, restarts: Int)]) -> Void) {
        self.report = report
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] { sigaddset(&signals, number) }
        // Waited for with sigtimedwait; a blocked signal is not lost.
        sigprocmask(SIG_BLOCK, &signals, nil)
    }

    func start(_ program: Program) throws {
        children.append(Child(program: program, process: try Self.spawn(program)))
        tell()
    }

    /// A child dies with its supervisor, whatever kills that.
    private static func spawn(_ program: Program) throws -> pid_t {
        try Subprocess.start(
            ["setpriv", "--pdeathsig", "TERM", "--"] + program.arguments, environment: program.environment,
            output: program.log, newSession: true)
    }

    private func tell() { report(children.map { ($0.program.name, $0.process, $0.restarts) }) }

    /// The last line of the log of a program that ended and was not started again yet, and its exit code.
    var firstFailure: (line: String, exitCode: Int32?)? {
        guard let child = children.first(where: { $0.restartAt != nil }) else { return nil }
        let text = (try? String(contentsOfFile: child.program.log, encoding: .utf8)) ?? ""
        return (text.split(separator: "\n").last.map(String.init) ?? "\(child.program.name) ended", child.exitCode)
    }

    /// Looks once, waiting at most a tenth of a second.
    ///
    /// - Returns: false when somebody asked for the end.
    func turn() -> Bool {
        var limit = timespec(tv_sec: 0, tv_nsec: 100_000_000)
        let number = sigtimedwait(&signals, nil, &limit)
        if number == SIGTERM || number == SIGINT || number == SIGHUP { return false }
        reap()
        restart()
        return true
    }

    private func reap() {
        var status: Int32 = 0
        while case let process = waitpid(-1, &status, WNOHANG), process > 0 {
            guard let index = children.firstIndex(where: { $0.process == process && $0.restartAt == nil }) else {
                continue
            }
            // Who lived for a while comes back at once; who keeps dying waits longer each time, 5 s at the most.
            let lived = Date().timeIntervalSince(children[index].startedAt)
            if lived > 30 { children[index].restartsInARow = 0 }
            let pause = lived > 5 ? 0.05 : min(5, 0.1 * pow(2, Double(children[index].restartsInARow)))
            children[index].restartAt = Date().addingTimeInterval(pause)
            children[index].restartsInARow += 1
            children[index].restarts += 1
            children[index].exitCode = Subprocess.exitCode(of: status)
        }
    }

    private func restart() {
        for index in children.indices {
            guard let due = children[index].restartAt, due <= Date(),
                let process = try? Self.spawn(children[index].program)
            else { continue }
            let child = children[index]
            let end = child.exitCode.map { "ended with exit code \($0)" } ?? "was killed"
            say("\(child.program.name) \(end) and is started again (log: \(child.program.log))")
            children[index].process = process
            children[index].startedAt = Date()
            children[index].restartAt = nil
            tell()
        }
    }

    /// The last started, which answers the public, finishes its requests before those that it asks are stopped. Whoever
    /// has not ended 8 s after it was asked to is killed.
    func stopAll() {
        if let last = children.popLast() { stop([last]) }
        stop(children)
        children = []
    }

    private func stop(_ children: [Child]) {
        let running = children.filter { $0.restartAt == nil }
        for child in running { kill(child.process, SIGTERM) }
        let end = Date().addingTimeInterval(8)
        for child in running {
            var status: Int32 = 0
            while waitpid(child.process, &status, WNOHANG) == 0 {
                if Date() > end { kill(child.process, SIGKILL) }
                var pause = timespec(tv_sec: 0, tv_nsec: 20_000_000)
                nanosleep(&pause, nil)
            }
        }
    }
}
