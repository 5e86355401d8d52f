import BusProtocol
import BusRuntime
import Foundation

/// `vestibule top`: prints the load of each service every second until it is interrupted.
enum TopCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--once"])
        let bus = try BusAccess(state: arguments["--state"])
        // Only a terminal is cleared. A file or a pipe gets one table after another.
        let clearing = isatty(1) == 1 && !arguments.has("--once") ? "\u{1b}[H\u{1b}[2J" : ""
        var last = try look(bus)
        while true {
            usleep(1_000_000)
            let now = try look(bus)
            let loads = ServiceLoad.between(last, now)
            say(clearing + table(loads) + (clearing.isEmpty ? "\n" : ""))
            if arguments.has("--once") { return }
            last = now
        }
    }

    private static func look(_ bus: BusAccess) throws -> [ServiceLoad.Look] {
        try BusCommand.waiting { try await BusCommand.look(bus) { _ in .report } }.map {
            ServiceLoad.Look(
                service: $0.service, instance: $0.answer?.instance, isReady: $0.answer?.state == .ready, at: Date(),
                report: $0.answer?.report)
        }
    }

    static func table(_ loads: [ServiceLoad]) -> String {
        func time(_ time: Duration?) -> String { time.map { String(format: "%.1f ms", $0 / .milliseconds(1)) } ?? "" }
        func count(_ name: String, _ load: ServiceLoad) -> String { load.gauges[name].map { "\(Int($0))" } ?? "" }
        let head = [
            "service", "ready", "requests/s", "errors/s", "p50", "p99", "waited p99", "in flight", "shed/s",
            "connections", "waiting", "outbox", "oldest", "dead letters",
        ]
        let rows = loads.map { load in
            let oldest = load.gauges["outbox_oldest_seconds"].map { String(format: "%.1f s", $0) }
            return [
                load.service.rawValue, "\(load.ready) of \(load.replicas)", String(format: "%.0f", load.requests),
                String(format: "%.0f", load.errors), time(load.took.quantile(0.5)), time(load.took.quantile(0.99)),
                time(load.waited.quantile(0.99)), "\(load.inFlight)", String(format: "%.0f", load.shed),
                count("database_connections", load), count("database_waiting", load), count("outbox_due", load),
                oldest ?? "", count("outbox_dead", load),
            ]
        }
        return TextTable.text(of: [head] + rows)
    }
}

/// The load of a service between two looks, summed over its replicas.
struct ServiceLoad {
    /// The report of one replica at one time.
    struct Look {
        let service: ServiceName
        /// `nil` if the replica did not answer.
        let instance: Identifier?
        let isReady: Bool
        let at: Date
        let report: BusReport?
    }

    let service: ServiceName
    private(set) var replicas = 0
    private(set) var ready = 0
    /// Requests a second. `errors` and `shed` are also per second.
    private(set) var requests = 0.0
    private(set) var errors = 0.0
    private(set) var shed = 0.0
    private(set) var inFlight = 0
    private(set) var took = Histogram()
    private(set) var waited = Histogram()
    /// Gauges of connections are added up. Gauges of the outbox, which replicas share, come from one replica.
    private(set) var gauges: [String: Double] = [:]

    /// The loads in the order of the services' names. All work of a new replica counts.
    static func between(_ before: [Look], _ after: [Look]) -> [ServiceLoad] {
        let known = Dictionary(
            before.compactMap { look in look.instance.map { ($0, look) } }, uniquingKeysWith: { $1 })
        let services = Dictionary(grouping: after, by: \.service).sorted { $0.key.rawValue < $1.key.rawValue }
        return services.map { service, looks in
            var load = ServiceLoad(service: service)
            for look in looks { load.add(look, since: look.instance.flatMap { known[$0] }) }
            return load
        }
    }

    private mutating func add(_ look: Look, since last: Look?) {
        replicas += 1
        ready += look.isReady ? 1 : 0
        guard let report = look.report else { return }
        let uptime = Double(report.uptimeMs) / 1000
        let seconds = max(0.001, last.map { look.at.timeIntervalSince($0.at) } ?? uptime)
        let (now, then) = (Self.sum(report.served), Self.sum(last?.report?.served ?? []))
        requests += Double(now.succeeded + now.failed - then.succeeded - then.failed) / seconds
        errors += Double(now.failed - then.failed) / seconds
        shed += Double(now.shed - then.shed) / seconds
        inFlight += now.inFlight
        took = took.adding(now.took.subtracting(then.took))
        waited = waited.adding(now.waited.subtracting(then.waited))
        for (name, value) in report.gauges ?? [:] {
            gauges[name] = name.hasPrefix("outbox_") ? max(value, gauges[name] ?? 0) : value + (gauges[name] ?? 0)
        }
    }

    private static func sum(_ served: [Traffic]) -> Traffic {
        served.filter { !$0.isLongPoll }.reduce(Traffic(message: "all", partner: .gateway)) { $0.adding($1) }
    }
}
