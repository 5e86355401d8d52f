import BusRuntime
import EventLoop
import HTTPServer
import JSONText

/// A gateway: an HTTP server and its bus. A process can run several.
@Loop final class GatewayServer {
    let bus: Bus
    private let gatekeeper: Gatekeeper
    private let local: LocalAnswers
    private let dispatcher: Dispatcher
    private let server: HTTPServer
    private let meter: HTTPMeter
    private var followers: [Task<Void, any Error>] = []

    init(
        _ configuration: GatewayConfiguration, bus: Bus, table: RouteTable = .vestibule,
        limits: HTTPLimits = HTTPLimits()
    ) {
        self.bus = bus
        let gatekeeper = Gatekeeper(
            bus: bus, issuer: configuration.tokenIssuer, audience: configuration.tokenAudience,
            staffNetworks: configuration.staffNetworks)
        let document = OpenAPIDocument(table: table, exportSchema: ExportDocument.schema).value()
        let meter = HTTPMeter()
        let local = LocalAnswers(bus: bus, gatekeeper: gatekeeper, document: document, meter: meter)
        let dispatcher = Dispatcher(
            configuration, table: table, bus: bus, gatekeeper: gatekeeper, local: local, meter: meter)
        (self.gatekeeper, self.local, self.dispatcher, self.meter) = (gatekeeper, local, dispatcher, meter)
        server = HTTPServer(
            host: configuration.host, port: configuration.port, limits: limits,
            delegate: HTTPServer.Delegate(
                shares: { dispatcher.shares(of: $0) },
                admission: { dispatcher.admission(of: $0, from: $1) },
                errorResponse: { dispatcher.refuse($0, $1, $2) },
                handler: dispatcher.answer))
    }

    var boundPort: Int { server.boundPort }

    /// The metrics of this gateway alone, without asking any replica.
    var ownMetrics: MetricsPage {
        MetricsPage(gateway: bus.configuration.instance, own: bus.report, answers: meter.lines, replicas: [])
    }

    /// Called after every response.
    var onAnswer: @Loop (RequestRecord) -> Void {
        get { dispatcher.onAnswer }
        set { dispatcher.onAnswer = newValue }
    }

    /// Listens, and starts to follow auth's keys and revocations. Start the bus before.
    ///
    /// - Throws: `HTTPServerError` if the address cannot be listened on.
    func start() throws(HTTPServerError) {
        try server.start()
        let gatekeeper = gatekeeper
        followers = [
            Loop.spawn { await gatekeeper.keys.run() }, Loop.spawn { await gatekeeper.revocations.run() },
        ]
    }

    /// Accepts no more requests, finishes those in progress, and stops following auth.
    func drain() async {
        local.isDraining = true
        await server.drain()
        for follower in followers { follower.cancel() }
    }
}
