import BusProtocol
import BusRuntime

/// What every replica tells, of whatever service it is.
extension PrometheusText {
    private static let gauges = [
        ("database_connections", "Connections to the database that stand."),
        ("database_idle", "Of these, those that a transaction may have at once."),
        ("database_waiting", "Transactions that wait for a connection."),
        ("outbox_due", "What is due and not delivered, the same for all replicas; 10000 at most."),
        ("outbox_oldest_seconds", "Since when the one that is due the longest is due, the same for all replicas."),
        ("outbox_dead", "Dead letters, the same for all replicas."),
        ("schema_missing", "Migrations that were not applied and tables that are gone; above 0 it is not ready."),
        ("sms_budget_used", "Of the codes that may leave in this hour, the share that left; of the fullest budget."),
        ("sms_prefixes_closed", "Prefixes of numbers that strangers get no codes for, the same for all replicas."),
    ]

    /// What a replica tells of itself.
    public mutating func add(_ report: BusReport, of service: ServiceName, _ instance: Identifier) {
        let origin = [("service", service.rawValue), ("instance", instance.description)]
        add(
            "vestibule_uptime_seconds", "Since the process began.", origin, Double(report.uptimeMs) / 1000)
        // What another build tells beside these has no words here.
        for (name, help) in Self.gauges {
            guard let value = report.gauges?[name] else { continue }
            add("vestibule_\(name)", help, origin, value)
        }
        for reason in ["address", "day"] {
            guard let value = report.gauges?["events_refused_\(reason)"] else { continue }
            add(
                "vestibule_events_refused_total", .counter,
                "Events of new visitors that were not stored, by the limit that they were over.",
                origin + [("reason", reason)], Int(value))
        }
        for traffic in report.served { add(traffic, "served", "caller", origin) }
        for traffic in report.asked {
            add(traffic, "asked", "callee", origin)
            add(
                "vestibule_bus_asked_retries_total", .counter, "Attempts of calls beyond the first.",
                origin + [("message", traffic.message), ("callee", traffic.partner.rawValue)], traffic.retries)
        }
        for fates in report.fates {
            let labels = origin + [("callee", fates.service.rawValue)]
            add(
                "vestibule_bus_replicas_lost_total", .counter, "Times that a replica was lost.", labels, fates.lost)
            add(
                "vestibule_bus_replicas_ejected_total", .counter,
                "Times that a replica was put aside since it answered no request.", labels, fates.ejected)
        }
        let counters = report.counters
        for (name, help, value) in [
            ("frames_malformed", "Frames that could not be read, or not in their place.", counters.malformedFrames),
            ("frames_foreign", "Frames of who is not allowed, or in another language.", counters.foreignFrames),
            ("answers_undeliverable", "Replies whose caller was gone.", counters.undeliverable),
            ("internal_errors", "Errors of handlers that had no words for the wire.", counters.internalErrors),
        ] {
            add("vestibule_bus_\(name)_total", .counter, help, origin, value)
        }
    }

    /// - Parameters:
    ///   - side: `served` or `asked`.
    ///   - partner: what the other end is called.
    private mutating func add(_ traffic: Traffic, _ side: String, _ partner: String, _ origin: Labels) {
        let labels = origin + [("message", traffic.message), (partner, traffic.partner.rawValue)]
        let name = "vestibule_bus_\(side)"
        for (code, count) in traffic.ended.sorted(by: { $0.key < $1.key }) {
            add("\(name)_total", .counter, "Messages that ended, by code.", labels + [("code", code)], count)
        }
        add("\(name)_seconds", "From arrival, or from the call, to the end.", labels, traffic.took)
        add("\(name)_wait_seconds", "Of that, before it was begun or given away.", labels, traffic.waited)
        add("\(name)_in_flight", .gauge, "Messages that have not ended.", labels, traffic.inFlight)
        add("\(name)_shed_total", .counter, "Ended as overloaded, by whatever was too busy.", labels, traffic.shed)
    }
}
