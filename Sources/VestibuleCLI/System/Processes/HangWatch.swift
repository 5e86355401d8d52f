import Foundation
import Synchronization

/// Asks every process of a system regularly whether it still answers, on a thread of its own.
///
/// A hanging or stopped process does not end, so its supervisor gets no signal about it.
final class HangWatch: Sendable {
    private struct State {
        var asked: [pid_t] = []
        var gateway: pid_t?
        /// The number of looks in a row without an answer, by process.
        var silences: [pid_t: Int] = [:]
    }

    private let state = Mutex(State())
    /// A process counts as hanging after this many looks in a row without an answer. A single one may be due to load.
    private static let limit = 3
    /// A process that has not answered for this many seconds hangs. A new process has the same time to begin to answer.
    let patience: TimeInterval

    init(patience: TimeInterval = 12) { self.patience = patience }

    /// Starts the thread.
    ///
    /// - Parameter address: the address of the gateway.
    func start(_ folder: StateFolder, _ address: String) {
        Thread.detachNewThread { [self] in
            while true {
                Thread.sleep(forTimeInterval: patience / Double(Self.limit))
                let asked = state.withLock { $0 }
                note(asked.asked, answering: Self.answering(folder, address, gateway: asked.gateway))
            }
        }
    }

    /// - Returns: the processes that answered, or `nil` if the look itself failed.
    private static func answering(_ folder: StateFolder, _ address: String, gateway: pid_t?) -> Set<pid_t>? {
        guard let bus = try? BusAccess(state: folder.path, environment: [:]),
            let replicas = try? BusCommand.waiting({ try await BusCommand.look(bus, within: .seconds(1)) })
        else { return nil }
        var found = Set(replicas.compactMap { $0.answer == nil ? nil : $0.process })
        if let gateway, (try? HTTPClient(address).send("GET", "/healthz"))?.status == 200 { found.insert(gateway) }
        return found
    }

    /// Sets the processes to ask from now on. Leave out those that are still starting.
    ///
    /// - Parameter gateway: the process to ask over HTTP instead of the bus.
    func ask(_ processes: [pid_t], gateway: pid_t?) { state.withLock { ($0.asked, $0.gateway) = (processes, gateway) } }

    /// Records the result of a look; `nil` for one that failed.
    func note(_ processes: [pid_t], answering: Set<pid_t>?) {
        guard let answering else { return }
        state.withLock { state in
            let silent = processes.filter { !answering.contains($0) }
            let counts = silent.map { ($0, state.silences[$0, default: 0] + 1) }
            state.silences = Dictionary(counts) { $1 }
        }
    }

    func hangs(_ process: pid_t) -> Bool { state.withLock { $0.silences[process, default: 0] } >= Self.limit }
}
