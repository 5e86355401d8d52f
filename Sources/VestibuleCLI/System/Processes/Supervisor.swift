import BusProtocol
import Foundation
import JSONText

/// Starts the processes of a system, restarts those that end, and stops all of them in order.
final class Supervisor {
    struct Program {
        let name: String
        let arguments: [String]
        let environment: [String: String]
        let log: String
    }

    /// A process as `vestibule status` shows it.
    struct ProcessState: Sendable {
        let name: String
        let process: pid_t
        let restarts: Int
        let lastEnd: ProcessEnd?
        /// Whether it has ended and will be restarted.
        let isWaiting: Bool
        /// Whether it runs but does not answer.
        let hangs: Bool
    }

    private struct Child {
        let program: Program
        var process: pid_t
        /// The restarts since the supervisor first started it.
        var restarts = 0
        /// The restarts in a row after short lives. They decide how long the next restart waits.
        var restartsInARow = 0
        var lastEnd: ProcessEnd?
        var startedAt = Date()
        /// When to restart it; `nil` while it runs.
        var restartAt: Date?
        /// When to kill it, if ``Supervisor/dismiss(_:)`` asked it to end; else `nil`.
        var killAt: Date?
        var hangs = false

        var state: ProcessState {
            ProcessState(
                name: program.name, process: process, restarts: restarts, lastEnd: lastEnd,
                isWaiting: restartAt != nil, hangs: hangs)
        }
    }

    private var children: [Child] = []
    private var signals = sigset_t()
    private let log: SupervisorLog
    private let report: ([ProcessState]) -> Void
    /// Looks for hanging processes; `nil` until the system has started.
    var watch: HangWatch?
    /// Called when a command asks for another scale (`SIGUSR1`).
    var onScale: () -> Void = {}
    /// How many seconds a process may take to finish its work at the end.
    private static let farewell: TimeInterval = 8

    /// - Parameter report: called with all processes after each change.
    init(_ log: SupervisorLog, report: @escaping ([ProcessState]) -> Void) {
        self.log = log
        self.report = report
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1] { sigaddset(&signals, number) }
        // A blocked signal is not lost. `sigtimedwait` takes it later.
        sigprocmask(SIG_BLOCK, &signals, nil)
    }

    func start(_ program: Program) throws {
        // Keep the gateway last, since ``stopAll()`` stops it first.
        let child = Child(program: program, process: try Self.spawn(program))
        children.insert(child, at: children.firstIndex { $0.program.name == "gateway" } ?? children.count)
        log.note(.info, "process_started", ["process": .string(program.name), "pid": .integer(Int64(child.process))])
        reportStates()
    }

    /// Makes a process finish its work and end. The supervisor does not restart it.
    func dismiss(_ name: String) {
        guard let index = children.firstIndex(where: { $0.program.name == name && $0.killAt == nil }) else { return }
        if children[index].restartAt != nil {
            children.remove(at: index)
        } else {
            children[index].killAt = Date().addingTimeInterval(Self.farewell)
            kill(children[index].process, SIGTERM)
        }
        reportStates()
    }

    /// The names of the processes that nobody has dismissed.
    var names: [String] { children.filter { $0.killAt == nil }.map(\.program.name) }

    /// Starts a process. The kernel ends it when the supervisor ends, for any reason.
    private static func spawn(_ program: Program) throws -> pid_t {
        try Subprocess.start(
            ["setpriv", "--pdeathsig", "TERM", "--"] + program.arguments, environment: program.environment,
            output: program.log, newSession: true)
    }

    private func reportStates() { report(children.map(\.state)) }

    /// The last log line and the exit code of a program that ended and was not restarted yet.
    var firstFailure: (line: String, exitCode: Int32?)? {
        guard let child = children.first(where: { $0.restartAt != nil }) else { return nil }
        let text = (try? String(contentsOfFile: child.program.log, encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").last.map(String.init) ?? "\(child.program.name) ended"
        return (line, child.lastEnd?.exitCode)
    }

    /// Handles a signal and looks after all processes once.
    ///
    /// - Parameter seconds: how long to wait for the signal, below 1.
    /// - Returns: `false` after a signal to end.
    func turn(atMost seconds: Double = 0.1) -> Bool {
        var limit = timespec(tv_sec: 0, tv_nsec: Int(seconds * 1_000_000_000))
        let number = sigtimedwait(&signals, nil, &limit)
        if number == SIGTERM || number == SIGINT || number == SIGHUP { return false }
        if number == SIGUSR1 { onScale() }
        reap()
        restart()
        killLate()
        lookForHangs()
        return true
    }

    private func reap() {
        var status: Int32 = 0
        while case let process = waitpid(-1, &status, WNOHANG), process > 0 {
            guard let index = children.firstIndex(where: { $0.process == process && $0.restartAt == nil }) else {
                continue
            }
            let (child, end) = (children[index], ProcessEnd(status))
            let lived = Date().timeIntervalSince(child.startedAt)
            var fields = end.members
            fields["process"] = .string(child.program.name)
            fields["pid"] = .integer(Int64(process))
            fields["livedSeconds"] = .integer(Int64(lived))
            guard child.killAt == nil else {
                log.note(.info, "process_dismissed", fields)
                children.remove(at: index)
                reportStates()
                continue
            }
            // A process that ran for a while restarts at once. A process that keeps failing waits longer each time, 5 s
            // at most.
            if lived > 30 { children[index].restartsInARow = 0 }
            let pause = lived > 5 ? 0.05 : min(5, 0.1 * pow(2, Double(children[index].restartsInARow)))
            children[index].restartAt = Date().addingTimeInterval(pause)
            children[index].restartsInARow += 1
            children[index].restarts += 1
            children[index].lastEnd = end
            children[index].hangs = false
            fields["pauseMilliseconds"] = .integer(Int64(pause * 1000))
            fields["log"] = .string(child.program.log)
            log.note(end.exitCode == 0 ? .info : .warning, "process_ended", fields)
            reportStates()
        }
    }

    private func restart() {
        for index in children.indices {
            guard let due = children[index].restartAt, due <= Date(),
                let process = try? Self.spawn(children[index].program)
            else { continue }
            children[index].process = process
            children[index].startedAt = Date()
            children[index].restartAt = nil
            log.note(
                .info, "process_restarted",
                [
                    "process": .string(children[index].program.name), "pid": .integer(Int64(process)),
                    "restarts": .integer(Int64(children[index].restarts)),
                ])
            reportStates()
        }
    }

    private func killLate() {
        for child in children where child.killAt.map({ $0 <= Date() }) == true { kill(child.process, SIGKILL) }
    }

    // MARK: Hanging

    private func lookForHangs() {
        guard let watch else { return }
        let grown = children.filter { $0.restartAt == nil && Date().timeIntervalSince($0.startedAt) > watch.patience }
        watch.ask(grown.map(\.process), gateway: grown.first { $0.program.name == "gateway" }?.process)
        for index in children.indices where children[index].restartAt == nil {
            let (child, hangs) = (children[index], watch.hangs(children[index].process))
            guard hangs != child.hangs else { continue }
            children[index].hangs = hangs
            log.note(
                hangs ? .warning : .info, hangs ? "process_hangs" : "process_answers_again",
                ["process": .string(child.program.name), "pid": .integer(Int64(child.process))])
            reportStates()
        }
    }

    // MARK: End

    /// Stops the gateway first, so that it can finish its requests. Then it stops the services that the gateway needs
    /// for them. It kills a process that has not ended after 8 s.
    func stopAll() {
        if !children.isEmpty { log.note(.info, "stopping") }
        if let last = children.popLast() { stop([last]) }
        stop(children)
        children = []
    }

    private func stop(_ children: [Child]) {
        let running = children.filter { $0.restartAt == nil }
        for child in running { kill(child.process, SIGTERM) }
        let end = Date().addingTimeInterval(Self.farewell)
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
