import BusProtocol
import BusRuntime

/// The metrics that the replicas of all services have.
extension PrometheusText {
    private static let gauges = [
        ("loop_timers", "Timers that wait, cancelled ones among them."),
        (
            "memory_in_use_bytes",
            "Memory that is allocated and not freed. Freed memory does not count, except what is kept for each thread."
        ),
        ("database_connections", "Open connections to the database."),
        ("database_idle", "Open connections that are free for a transaction."),
        ("database_waiting", "Transactions that wait for a connection."),
        ("outbox_due", "Due outbox items, the same for all replicas; 10000 at most."),
        ("outbox_oldest_seconds", "The longest wait of an outbox item, the same for all replicas."),
        ("outbox_dead", "Dead letters, the same for all replicas."),
        (
            "schema_missing",
            "Migrations that were not applied and tables that are missing. Above 0 the replica is not ready."
        ),
        ("sms_budget_used", "The share of this hour's SMS budget that is used, for the budget with the highest share."),
        ("email_budget_used", "The share of this hour's email budget that is used."),
        ("sms_prefixes_closed", "Number prefixes for which unknown devices get no codes, the same for all replicas."),
        ("captures", "Pictures that wait for a decision about a person, the same for all replicas."),
        (
            "destructions_oldest_seconds",
            "The longest wait of a picture for its destruction, the same for all replicas."
        ),
        (
            "photo_sizes",
            "Whether smaller sizes of photos are made: 0 where the program or what confines it is missing."
        ),
        ("reviews", "Verifications and photos that wait for a reviewer, the same for all replicas."),
        ("reviews_oldest_seconds", "The longest wait for a reviewer, the same for all replicas."),
    ]

    /// Counters that a replica reports as a gauge for each value of a label.
    private static let counters: [(name: String, label: String, values: [String], help: String)] = [
        (
            "events_refused", "reason", ["address", "day"],
            "Events of new visitors that were not stored, by the limit that they exceeded."
        ),
        ("uploads", "result", ["stored", "refused", "failed"], "Uploads of pictures, by how they were answered."),
        (
            "verdicts", "verdict", ["verified", "liveness_failed", "quality_too_low", "inconclusive"],
            "Verdicts of the judge of photos."
        ),
        (
            "judgements", "result", ["on_time", "late"],
            "Captures that the judge was asked about, by whether a verdict came within 10 s."
        ),
    ]

    /// Adds the metrics of one replica.
    package mutating func add(_ report: BusReport, of service: ServiceName, _ instance: Identifier) {
        let origin = [("service", service.rawValue), ("instance", instance.description)]
        add(
            "vestibule_uptime_seconds", "Time since the process started.", origin, Double(report.uptimeMs) / 1000)
        // Leave out gauges of other builds that have no help text here.
        for (name, help) in Self.gauges {
            guard let value = report.gauges?[name] else { continue }
            add("vestibule_\(name)", help, origin, value)
        }
        for (name, label, values, help) in Self.counters {
            for value in values {
                guard let count = report.gauges?["\(name)_\(value)"] else { continue }
                add("vestibule_\(name)_total", .counter, help, origin + [(label, value)], Int(count))
            }
        }
        for traffic in report.served { add(traffic, "served", "caller", origin) }
        for traffic in report.asked {
            add(traffic, "asked", "callee", origin)
            add(
                "vestibule_bus_asked_retries_total", .counter, "Attempts of calls after the first.",
                origin + [("message", traffic.message), ("callee", traffic.partner.rawValue)], traffic.retries)
        }
        for fates in report.fates {
            let labels = origin + [("callee", fates.service.rawValue)]
            add(
                "vestibule_bus_replicas_lost_total", .counter, "How often a replica was lost.", labels, fates.lost)
            add(
                "vestibule_bus_replicas_ejected_total", .counter,
                "How often a replica was ejected because it answered no request.", labels, fates.ejected)
        }
        let counters = report.counters
        for (name, help, value) in [
            ("frames_malformed", "Frames that were malformed or unexpected.", counters.malformedFrames),
            (
                "frames_foreign", "Frames with a key that is not allowed, or of another protocol.",
                counters.foreignFrames
            ),
            ("answers_undeliverable", "Answers whose caller was gone.", counters.undeliverable),
            ("internal_errors", "Errors of handlers that were not bus errors.", counters.internalErrors),
        ] {
            add("vestibule_bus_\(name)_total", .counter, help, origin, value)
        }
    }

    /// - Parameters:
    ///   - side: `served` or `asked`.
    ///   - partner: the label for the other service.
    private mutating func add(_ traffic: Traffic, _ side: String, _ partner: String, _ origin: Labels) {
        let labels = origin + [("message", traffic.message), (partner, traffic.partner.rawValue)]
        let name = "vestibule_bus_\(side)"
        for (code, count) in traffic.ended.sorted(by: { $0.key < $1.key }) {
            add("\(name)_total", .counter, "Messages that ended, by code.", labels + [("code", code)], count)
        }
        add("\(name)_seconds", "Time from the arrival of a request, or from a call, to its end.", labels, traffic.took)
        add(
            "\(name)_wait_seconds", "Time before the handler started, or before the call was first sent.", labels,
            traffic.waited)
        add("\(name)_in_flight", .gauge, "Messages that have not ended.", labels, traffic.inFlight)
        add(
            "\(name)_shed_total", .counter, "Messages that ended as overloaded, here or in a further service.", labels,
            traffic.shed)
    }
}
