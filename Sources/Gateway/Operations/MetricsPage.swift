import BusProtocol
import BusRuntime
import EventLoop

/// The metrics of this gateway, and of every replica that it knows, for Prometheus.
struct MetricsPage: Sendable {
    /// This gateway's instance.
    let gateway: Identifier
    let own: BusReport
    let answers: [HTTPMeter.Line: HTTPMeter.Answers]
    let told: [OperationsView.Told]

    var bytes: [UInt8] {
        var text = PrometheusText()
        for told in told {
            let labels = [
                ("service", told.service.rawValue), ("instance", told.replica.instance?.description ?? ""),
                ("address", told.replica.endpoint),
            ]
            text.add(
                "vestibule_up", .gauge, "Whether this gateway finds the replica ready.", labels,
                told.replica.isAlive && told.replica.state == .ready ? 1 : 0)
            if let report = told.report, let instance = told.replica.instance {
                Self.add(report, of: told.service, instance, to: &text)
            }
        }
        Self.add(own, of: .gateway, gateway, to: &text)
        addHTTP(to: &text)
        return text.bytes
    }

    private func addHTTP(to text: inout PrometheusText) {
        for (line, answers) in answers.sorted(by: { ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method) }) {
            let labels = [
                ("instance", gateway.description), ("method", line.method), ("route", line.route),
            ]
            for (status, count) in answers.byStatus.sorted(by: { $0.key < $1.key }) {
                text.add(
                    "vestibule_http_requests_total", .counter, "Answers of the gateway.",
                    labels + [("status", "\(status)")], count)
            }
            text.add("vestibule_http_request_seconds", "From a request's head to its answer.", labels, answers.took)
        }
    }

    private static let gauges = [
        ("database_connections", "Connections to the database that stand."),
        ("database_idle", "Of these, those that a transaction may have at once."),
        ("database_waiting", "Transactions that wait for a connection."),
        ("outbox_due", "What is due and not delivered, the same for all replicas; 10000 at most."),
        ("outbox_oldest_seconds", "Since when the one that is due the longest is due, the same for all replicas."),
        ("outbox_dead", "Dead letters, the same for all replicas."),
    ]

    private static func add(
        _ report: BusReport, of service: ServiceName, _ instance: Identifier, to text: inout PrometheusText
    ) {
        let origin = [("service", service.rawValue), ("instance", instance.description)]
        text.add(
            "vestibule_uptime_seconds", "Since the process began.", origin, Double(report.uptimeMs) / 1000)
        // What another build tells beside these has no words here.
        for (name, help) in gauges {
            guard let value = report.gauges?[name] else { continue }
            text.add("vestibule_\(name)", help, origin, value)
        }
        for traffic in report.served { add(traffic, "served", "caller", origin, to: &text) }
        for traffic in report.asked {
            add(traffic, "asked", "callee", origin, to: &text)
            text.add(
                "vestibule_bus_asked_retries_total", .counter, "Attempts of calls beyond the first.",
                origin + [("message", traffic.message), ("callee", traffic.partner.rawValue)], traffic.retries)
        }
        for fates in report.fates {
            let labels = origin + [("callee", fates.service.rawValue)]
            text.add(
                "vestibule_bus_replicas_lost_total", .counter, "Times that a replica was lost.", labels, fates.lost)
            text.add(
                "vestibule_bus_replicas_ejected_total", .counter,
                "Times that a replica was put aside since it answered no request.", labels, fates.ejected)
        }
        let counters = report.counters
        for (name, help, value) in [
            ("frames_malformed", "Frames that could not be read, or not in their place.", counters.malformedFrames),
            ("frames_foreign", "Frames of who is not allowed, or in another language.", counters.foreignFrames),
            ("answers_undeliverable", "Answers whose asker was gone.", counters.undeliverable),
            ("internal_errors", "Errors of handlers that had no words for the wire.", counters.internalErrors),
        ] {
            text.add("vestibule_bus_\(name)_total", .counter, help, origin, value)
        }
    }

    /// - Parameters:
    ///   - side: `served` or `asked`.
    ///   - partner: what the other end is called.
    private static func add(
        _ traffic: Traffic, _ side: String, _ partner: String, _ origin: PrometheusText.Labels,
        to text: inout PrometheusText
    ) {
        let labels = origin + [("message", traffic.message), (partner, traffic.partner.rawValue)]
        let name = "vestibule_bus_\(side)"
        for (code, count) in traffic.ended.sorted(by: { $0.key < $1.key }) {
            text.add("\(name)_total", .counter, "Messages that ended, by code.", labels + [("code", code)], count)
        }
        text.add("\(name)_seconds", "From arrival, or from the call, to the end.", labels, traffic.took)
        text.add("\(name)_wait_seconds", "Of that, before it was begun or given away.", labels, traffic.waited)
        text.add("\(name)_in_flight", .gauge, "Messages that have not ended.", labels, traffic.inFlight)
        text.add("\(name)_shed_total", .counter, "Refused since too much waited already.", labels, traffic.shed)
    }
}
