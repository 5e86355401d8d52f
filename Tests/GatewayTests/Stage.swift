import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import Gateway

/// A gateway on a real bus. Behind it, one stand-in answers for every service as the test says.
@Loop final class Stage {
    let tokens = TokenMaker()
    let backstage = Backstage()
    let gateway: GatewayServer
    private let services: [Bus]
    private let directory: String

    init(_ change: (inout GatewayConfiguration) -> Void = { _ in }) async throws {
        directory = NSTemporaryDirectory() + "gw-\(Identifier.random().description.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var services: [Bus] = []
        var peers: [ServiceName: Discovery] = [:]
        for name in ServiceName.services {
            peers[name] = .directory(directory)
            var configuration = BusConfiguration(service: name)
            configuration.bind = [try configuration.endpoint(inDirectory: directory)]
            services.append(Bus(configuration))
        }
        self.services = services
        backstage.keys = [SigningKeys.Key(x: Base64URL.encode(tokens.key.publicKey.raw), kid: tokens.kid)]
        var configuration = GatewayConfiguration()
        configuration.port = 0
        change(&configuration)
        var bus = BusConfiguration(service: .gateway, peers: peers)
        bus.discoveryInterval = .milliseconds(20)
        bus.grace = .milliseconds(500)
        gateway = GatewayServer(configuration, bus: Bus(bus))
    }

    /// Starts everything and waits until the gateway is ready.
    func open() async throws {
        for bus in services {
            backstage.register(at: bus)
            bus.state = .ready
            bus.gauges = { ["sms_budget_used": 0.5, "outbox_dead": 3, "database_waiting": 0.5, "a_later_one": 1] }
            try bus.start()
        }
        try gateway.bus.start()
        try gateway.start()
        try #require(try await eventually { try await get("/readyz").status == 200 })
    }

    func close() async {
        await gateway.drain()
        gateway.bus.stop()
        for bus in services { bus.stop() }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A service tells another state of itself, and other gauges.
    func change(_ service: ServiceName, to state: ServiceState, gauges: [String: Double]) {
        for bus in services where bus.configuration.service == service {
            bus.state = state
            bus.gauges = { gauges }
        }
    }

    /// A service's process is gone without a word.
    func lose(_ service: ServiceName) {
        for bus in services where bus.configuration.service == service { bus.stop() }
    }

    /// No more word from auth but its keys.
    func silence() { backstage.isSilent = true }

    func token(_ claims: [String: JSONValue] = [:]) -> String {
        tokens.token(now: Timestamp.now().microsecondsSinceEpoch / 1_000_000, claims: claims)
    }

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Exchange {
        try await send("GET", path, headers)
    }

    func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil
    ) async throws -> Exchange {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
        return try await Exchange(port: gateway.boundPort, request: head + "\r\n" + (body ?? ""))
    }

    func signedIn(_ more: [String: String] = [:]) -> [String: String] {
        ["Authorization": "Bearer \(token())"].merging(more) { $1 }
    }
}

/// Opens a stage, and closes it after the body, even if that throws.
@Loop func onStage(
    _ change: (inout GatewayConfiguration) -> Void = { _ in }, _ play: @Loop (Stage) async throws -> Void
) async throws {
    let stage = try await Stage(change)
    do {
        try await stage.open()
        try await play(stage)
    } catch {
        await stage.close()
        throw error
    }
    await stage.close()
}

/// What the services answer, and what they were asked.
@Loop final class Backstage {
    var keys: [SigningKeys.Key] = []
    var revoked: [Identifier] = []
    var isSilent = false
    var sessionQuestions = 0
    /// Questions about sessions wait for it.
    var sessionGate: LoopPromise<Void>?
    var asked: [(type: MessageType, body: JSONValue, context: RequestContext)] = []
    /// Thrown instead of an answer to public messages.
    var failure: BusError?
    var isReplay = false
    /// The access token of each renewal.
    var renewedToken = ""
    /// What a service has on each page of an export, by message type; one empty page where nothing is set.
    var pages: [MessageType: [[String]]] = [:]

    func register(at bus: Bus) {
        bus.register(KeysHandler(backstage: self))
        bus.register(RevocationHandler(backstage: self))
        bus.register(SessionHandler(backstage: self))
        bus.register(
            Stub<SendOTP>(backstage: self) {
                OTPSent(challengeId: .ordered(), expiresInSeconds: 300, resendAfterSeconds: 60, maskedPhone: "+1")
            })
        bus.register(Stub<Logout>(backstage: self) { NoContent() })
        bus.register(Renewal(backstage: self))
        bus.register(Stub<DeleteAccount>(backstage: self) { AccountDeletion(status: "deleting") })
        bus.register(Stub<UndoPhoneChange>(backstage: self) { PhoneChanged(maskedPhone: "+1") })
        bus.register(Stub<FindCities>(backstage: self) { CitiesFound(cities: []) })
        bus.register(
            Stub<GetProfileFields>(backstage: self) {
                ProfileFields(
                    key: "profile", version: 1, hash: String(repeating: "0a", count: 32), language: "en", steps: [],
                    fields: [])
            })
        bus.register(
            Stub<UpdateMe>(backstage: self) {
                Me(
                    id: .random(), profile: [:], age: nil, onboardingStatus: "questionnaire_pending",
                    onboardingStep: "profile", matchingMode: "none", skippedFields: [], preferNotToShareFields: [],
                    completion: 0, ageGate: nil, createdAt: .now(), updatedAt: .now(), revision: 4)
            })
        bus.register(Stub<ListDevices>(backstage: self) { DeviceList(devices: []) })
        bus.register(
            Stub<PutDevice>(backstage: self) {
                KnownDevice(
                    id: .ordered(), name: "n", platform: "ios", hasPushToken: false, current: true,
                    createdAt: .now(), lastUsedAt: .now())
            })
        bus.register(
            Stub<GetRecoveryCase>(backstage: self) {
                RecoveryCaseView(
                    status: "held", requestedAt: .now(), holdUntil: .now(), remainingSeconds: 1,
                    steps: [RecoveryStep(key: "hold", state: "current")])
            })
        bus.register(Stub<BeginExport>(backstage: self) { ExportBegun() })
        for request in ExportDocument.requests { register(request, on: bus) }
        bus.register(Stub<DisputeRecovery>(backstage: self) { RecoveryDisputed(status: "disputed") })
    }

    private func register<Request: ExportRequest>(_ request: Request.Type, on bus: Bus) {
        bus.register(Pages<Request>(backstage: self))
    }
}

private struct Stub<Request: BusRequest>: RequestHandler {
    let backstage: Backstage
    let answer: @Sendable () -> Request.Reply
    func handle(_ request: Request, context: RequestContext) async throws -> Request.Reply {
        backstage.asked.append((Request.type, try JSONValue.parse(context.body), context))
        if let failure = backstage.failure { throw failure }
        context.isReplay = backstage.isReplay
        return answer()
    }
}

private struct Renewal: RequestHandler {
    let backstage: Backstage
    func handle(_ request: RefreshToken, context: RequestContext) async throws -> Session {
        backstage.asked.append((RefreshToken.type, try JSONValue.parse(context.body), context))
        if let failure = backstage.failure { throw failure }
        return Session(
            accessToken: backstage.renewedToken, expiresInSeconds: 900, refreshToken: "rf_2", sessionId: .ordered(),
            deviceId: .ordered(), isNewUser: false,
            user: Session.User(id: .random(), onboardingStatus: "questionnaire_pending"))
    }
}

/// Where there is one page fewer than the last one promised, it fails.
private struct Pages<Request: ExportRequest>: RequestHandler {
    let backstage: Backstage
    func handle(_ request: Request, context: RequestContext) async throws -> ExportPage {
        backstage.asked.append((Request.type, try JSONValue.parse(context.body), context))
        if let failure = backstage.failure { throw failure }
        let pages = backstage.pages[Request.type] ?? [[]]
        let number = request.after.flatMap { Int($0) } ?? 0
        guard number < pages.count else { throw BusError(.serviceUnavailable, "Gone.") }
        let isLast = number + 1 == pages.count && pages[number] != ["more"]
        return ExportPage(
            records: pages[number].map { #"{"kind":"\#($0)"}"# }, next: isLast ? nil : "\(number + 1)")
    }
}

private struct KeysHandler: RequestHandler {
    let backstage: Backstage
    func handle(_ request: GetSigningKeys, context: RequestContext) async throws -> SigningKeys {
        SigningKeys(keys: backstage.keys)
    }
}

private struct RevocationHandler: RequestHandler {
    let backstage: Backstage
    func handle(_ request: FollowRevocations, context: RequestContext) async throws -> RevocationsFollowed {
        if backstage.isSilent { throw BusError(.serviceUnavailable, "Silent.") }
        try await Loop.sleep(for: .milliseconds(10))
        let after = request.after ?? 0
        let page = backstage.revoked.dropFirst(Int(after)).prefix(RevocationsFollowed.largestPage)
        return RevocationsFollowed(
            cursor: after + Int64(page.count),
            revocations: page.map { .init(sessionID: $0, forgetAt: .now() + .seconds(900)) })
    }
}

private struct SessionHandler: RequestHandler {
    let backstage: Backstage
    func handle(_ request: CheckSession, context: RequestContext) async throws -> SessionChecked {
        backstage.sessionQuestions += 1
        try await backstage.sessionGate?.get()
        return SessionChecked(isActive: !backstage.revoked.contains(request.sessionID))
    }
}
