import BusProtocol
import BusRuntime
import EventLoop
import ProcessRuntime

/// The metrics of this gateway and of every replica that it knows, in the text format of Prometheus.
struct MetricsPage: Sendable {
    /// The instance of this gateway.
    let gateway: Identifier
    let own: BusReport
    let answers: [HTTPMeter.Line: HTTPMeter.Answers]
    let replicas: [OperationsView.ReplicaView]

    var bytes: [UInt8] {
        var text = PrometheusText()
        for view in replicas {
            let labels = [
                ("service", view.service.rawValue), ("instance", view.replica.instance?.description ?? ""),
                ("address", view.replica.endpoint),
            ]
            text.add(
                "vestibule_up", .gauge, "1 if this gateway considers the replica ready, else 0.", labels,
                view.replica.isAlive && view.replica.state == .ready ? 1 : 0)
            if let report = view.report, let instance = view.replica.instance {
                text.add(report, of: view.service, instance)
            }
        }
        text.add(own, of: .gateway, gateway)
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
                    "vestibule_http_requests_total", .counter, "Responses of the gateway.",
                    labels + [("status", "\(status)")], count)
            }
            text.add(
                "vestibule_http_request_seconds", "From the head of a request to its response.", labels, answers.took)
        }
    }
}
