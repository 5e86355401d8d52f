import BusProtocol
import BusRuntime
import EventLoop
import JSONText

/// The counts of this gateway, and the reports that it gets over the bus from every replica that it knows.
@Loop final class OperationsView {
    private let bus: Bus
    private let meter: HTTPMeter
    private let services: [ServiceName]

    /// How long to wait for the report of a replica, which may be dead.
    private static let patience = Duration.milliseconds(500)

    init(bus: Bus, meter: HTTPMeter, services: [ServiceName]) {
        (self.bus, self.meter, self.services) = (bus, meter, services)
    }

    /// A replica as this gateway sees it, with its report if it sent one.
    struct ReplicaView: Sendable {
        let service: ServiceName
        let replica: ReplicaState
        let report: BusReport?
    }

    private func everybody() async -> [ReplicaView] {
        let looks = services.map { service in
            (service, Loop.spawn { [bus] in await bus.reports(of: service, within: Self.patience) })
        }
        var replicas: [ReplicaView] = []
        for (service, look) in looks {
            for (replica, report) in (try? await look.value) ?? [] {
                replicas.append(ReplicaView(service: service, replica: replica, report: report))
            }
        }
        return replicas
    }

    // MARK: GET /ops/services

    func listing() async -> JSONValue {
        let replicas = await everybody()
        let services = Dictionary(grouping: replicas, by: \.service)
        return [
            "services": .array(
                self.services.map { service in
                    [
                        "service": .string(service.rawValue),
                        "replicas": .array((services[service] ?? []).map { Self.listed($0) }),
                    ]
                })
        ]
    }

    private static func listed(_ view: ReplicaView) -> JSONValue {
        let replica = view.replica
        var members: [String: JSONValue] = [
            "address": .string(replica.endpoint), "state": .string(replica.isAlive ? replica.state.rawValue : "dead"),
            "instance": replica.instance.map { .string($0.description) } ?? .null,
            "version": replica.build.map { .string($0) } ?? .null,
        ]
        guard let report = view.report else { return .object(members) }
        let served = report.served.filter { !$0.isLongPoll }
        let took = served.reduce(Histogram()) { $0.adding($1.took) }
        func milliseconds(_ share: Double) -> JSONValue {
            took.quantile(share).map { .number($0 / .milliseconds(1)) } ?? .null
        }
        members["uptimeSeconds"] = .integer(report.uptimeMs / 1000)
        members["inFlight"] = .integer(Int64(served.reduce(0) { $0 + $1.inFlight }))
        members["requests"] = .integer(Int64(served.reduce(0) { $0 + $1.succeeded + $1.failed }))
        members["errors"] = .integer(Int64(served.reduce(0) { $0 + $1.failed }))
        (members["p50Ms"], members["p99Ms"]) = (milliseconds(0.5), milliseconds(0.99))
        return .object(members)
    }

    // MARK: GET /metrics

    /// Runs off the loop, since writing some hundred kilobytes of text takes milliseconds.
    func metrics() async -> [UInt8] {
        let page = MetricsPage(
            gateway: bus.configuration.instance, own: bus.report, answers: meter.lines, replicas: await everybody())
        return (try? await Loop.compute { page.bytes }) ?? []
    }
}
