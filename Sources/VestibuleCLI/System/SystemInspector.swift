import Foundation
import JSONText

/// The state of a local system, from its supervisor, the bus and the gateway.
struct SystemInspector {
    struct Process {
        let name: String
        let process: pid_t?
        /// For example `ready`, `starting`, `stopped`, `no_answer` or `ended`.
        let state: String
        let restarts: Int64
        let lastEnd: ProcessEnd?

        var isReady: Bool { state == "ready" }

        var json: JSONValue {
            [
                "name": .string(name), "pid": process.map { .integer(Int64($0)) } ?? .null, "state": .string(state),
                "restarts": .integer(restarts), "lastEnd": lastEnd?.json ?? .null,
            ]
        }
    }

    let address: String
    let processes: [Process]
    /// The problems, each a sentence without a full stop; empty if there are none.
    let troubles: [String]

    let isReady: Bool

    func replicas(of service: String) -> [Process] { Self.replicas(of: service, in: processes) }

    private static func replicas(of service: String, in processes: [Process]) -> [Process] {
        processes.filter { $0.name == service || $0.name.hasPrefix("\(service)-") }
    }

    /// Asks the supervisor, the bus and the gateway once. It takes at most two seconds.
    static func look(_ state: StateFolder, _ run: RunFile) throws -> SystemInspector {
        let bus = try? BusAccess(state: state.path, environment: [:])
        let replicas = try bus.map { bus in
            try BusCommand.waiting { try await BusCommand.look(bus, within: .milliseconds(500)) }
        }
        let seen = Dictionary((replicas ?? []).compactMap { replica in replica.process.map { ($0, replica.state) } }) {
            first, _ in first
        }
        let client = try HTTPClient(run.address, patience: 1)
        let answer = try? client.send("GET", "/readyz")
        let postgres = try PostgresServer(state).process
        var processes = [
            Process(
                name: "postgresql", process: postgres, state: postgres == nil ? "ended" : "running", restarts: 0,
                lastEnd: nil)
        ]
        processes += (run.value["processes"]?.arrayValue ?? []).map { entry in
            let process = entry["pid"]?.integerValue.map { pid_t($0) }
            let name = entry["name"]?.stringValue ?? ""
            var state = process.flatMap { seen[$0] } ?? "no_answer"
            if name == "gateway" { state = answer.map { $0.status == 200 ? "ready" : "not_ready" } ?? "no_answer" }
            if state == "no_answer", process.map(ProcessTable.isStopped) == true { state = "stopped" }
            if entry["waits"] == true { state = "ended" }
            return Process(
                name: name, process: entry["waits"] == true ? nil : process, state: state,
                restarts: entry["restarts"]?.integerValue ?? 0, lastEnd: ProcessEnd(entry["lastEnd"]))
        }
        let isReady = answer?.status == 200
        return SystemInspector(
            address: run.address, processes: processes,
            troubles: troubles(processes, postgres != nil, isReady ? nil : answer?.body["detail"]?.stringValue),
            isReady: isReady)
    }

    private static func troubles(_ processes: [Process], _ hasDatabase: Bool, _ detail: String?) -> [String] {
        var troubles = hasDatabase ? [] : ["PostgreSQL is not running"]
        for service in StateFolder.services {
            let replicas = replicas(of: service, in: processes)
            let ready = replicas.count(where: \.isReady)
            guard ready < replicas.count else { continue }
            troubles.append("\(service) has \(ready) of \(replicas.count) replicas ready")
        }
        if let detail { troubles.append("the gateway says: \(detail)") }
        return troubles
    }

    /// The state as text.
    var page: String {
        let rows = processes.map { process in
            [
                process.name, process.process.map { "\($0)" } ?? "", process.state, "\(process.restarts)",
                process.lastEnd?.text ?? "",
            ]
        }
        let head = "http://\(address) is \(isReady ? "ready" : "not ready")"
        return ([head] + troubles.map { "  \($0)" }).joined(separator: "\n") + "\n\n"
            + TextTable.text(of: [["process", "pid", "state", "restarts", "last end"]] + rows)
    }
}
