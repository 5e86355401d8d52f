import BusProtocol
import BusRuntime
import EventLoop
import HTTPServer
import JSONText

/// The responses that the gateway makes without a message to a service.
@Loop final class LocalAnswers {
    private let bus: Bus
    private let gatekeeper: Gatekeeper
    private let content: JSONValue
    private let document: [UInt8]
    /// The page about the API, and below it the guide. The gateway makes each at its first request. Most replicas never
    /// show them, and making both takes longer than the rest of the start.
    private lazy var page = Loop.spawn { [content] in
        try await Loop.compute { DocsPage(content, introduction: GuidePages.embedded.introduction) }
    }
    private lazy var guide = Loop.spawn { try await Loop.compute { GuidePages.embedded } }
    private let operations: OperationsView
    /// Whether the gateway is shutting down. It then reports that it is not ready.
    var isDraining = false

    init(bus: Bus, gatekeeper: Gatekeeper, document: JSONValue, meter: HTTPMeter) {
        (self.bus, self.gatekeeper) = (bus, gatekeeper)
        (content, self.document) = (document, CanonicalJSON.bytes(of: document))
        operations = OperationsView(bus: bus, meter: meter, services: ServiceName.services)
    }

    /// - Parameter parameters: the parameters of the path.
    func answer(
        _ answer: Route.LocalAnswer, _ parameters: [String: String]
    ) async throws(Problem) -> HTTPResponse {
        switch answer {
        case .health: return Self.json(["status": "ok"], cache: "no-store")
        case .readiness: return try await readiness()
        case .openAPI: return Self.json(document, cache: "public, max-age=60")
        case .docs:
            guard let page = try? await page.value else { throw Problem(.serviceUnavailable, "Please try again.") }
            return Self.html(page.bytes)
        case .guide:
            // A reader of the guide's files may ask for a page by the name of its file.
            let name = parameters["page"] ?? ""
            guard let guide = try? await guide.value else { throw Problem(.serviceUnavailable, "Please try again.") }
            guard let page = guide[name.hasSuffix(".md") ? String(name.dropLast(3)) : name] else {
                throw Problem(.notFound, "The guide has no such page.")
            }
            return Self.html(page)
        case .services: return Self.json(await operations.listing(), cache: "no-store")
        case .metrics:
            return HTTPResponse(
                status: 200, headers: ["content-type": "text/plain; version=0.0.4", "cache-control": "no-store"],
                body: await operations.metrics())
        case .signingKeys:
            guard let keys = gatekeeper.keys.document else {
                throw Problem(.serviceUnavailable, "The keys are not known yet. Please try again.")
            }
            return Self.json(keys, cache: "public, max-age=60")
        }
    }

    /// How long to wait for a replica that is not ready to report why.
    private static let patience = Duration.milliseconds(200)

    /// The services among these whose replicas run but lack migrations or tables.
    private func withoutSchema(_ services: [ServiceName]) async -> [String] {
        let looks = services.map { service in
            Loop.spawn { [bus] in await bus.reports(of: service, within: Self.patience) }
        }
        var found: [String] = []
        for (service, look) in zip(services, looks) {
            let reports = (try? await look.value) ?? []
            if reports.contains(where: { $0.1?.gauges?["schema_missing"] ?? 0 > 0 }) { found.append(service.rawValue) }
        }
        return found
    }

    private func readiness() async throws(Problem) -> HTTPResponse {
        var reasons: [String: JSONValue] = [:]
        for service in ServiceName.services {
            reasons[service.rawValue] = bus.absence(of: service).map { .string($0.rawValue) }
        }
        let absent = ServiceName.services.filter { reasons[$0.rawValue] != nil }
        var missing = absent.map(\.rawValue)
        if gatekeeper.keys.document == nil { missing.append("signing-keys") }
        if !gatekeeper.revocations.hasSnapshot { missing.append("revocations") }
        if isDraining { missing.append("gateway") }
        guard missing.isEmpty else {
            let named = missing.map { name in reasons[name]?.stringValue.map { "\(name) (\($0))" } ?? name }
            let schemas = await withoutSchema(absent)
            let why = schemas.isEmpty ? "" : " Without the tables of this release: \(schemas.joined(separator: ", "))."
            var problem = Problem(.serviceUnavailable, "Not ready: \(named.joined(separator: ", ")).\(why)")
            problem.members = ["notReady": .array(missing.map { .string($0) }), "reasons": .object(reasons)]
            if !schemas.isEmpty { problem.members["schemaMissing"] = .array(schemas.map { .string($0) }) }
            throw problem
        }
        return Self.json(["status": "ready"], cache: "no-store")
    }

    private static func html(_ page: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [
                "content-type": "text/html; charset=utf-8", "cache-control": "public, max-age=60",
                "content-security-policy": DocsPage.policy,
            ], body: page)
    }

    private static func json(_ value: JSONValue, cache: String) -> HTTPResponse {
        json(CanonicalJSON.bytes(of: value), cache: cache)
    }

    private static func json(_ bytes: [UInt8], cache: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: ["content-type": "application/json", "cache-control": cache], body: bytes)
    }
}
