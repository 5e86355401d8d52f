import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import JSONText

@testable import Gateway

/// A gateway over a real bus, and one process behind it that answers for every service, as a test tells it to.
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
        for name in LocalAnswers.required {
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
            try bus.start()
        }
        try gateway.bus.start()
        try gateway.start()
        while try await get("/readyz").status != 200 { try await Loop.sleep(for: .milliseconds(10)) }
    }

    func close() async {
        await gateway.drain()
        gateway.bus.stop()
        for bus in services { bus.stop() }
        try? FileManager.default.removeItem(atPath: directory)
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

/// Opens a stage, and closes it whatever comes.
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
    var asked: [(type: MessageType, body: JSONValue, context: RequestContext)] = []
    /// Thrown instead of an answer to public messages.
    var failure: BusError?
    var isReplay = false

    func register(at bus: Bus) {
        bus.register(KeysHandler(backstage: self))
        bus.register(RevocationHandler(backstage: self))
        bus.register(SessionHandler(backstage: self))
        bus.register(
            Stub<SendOTP>(backstage: self) {
                OTPSent(challengeId: .ordered(), expiresInSeconds: 300, resendAfterSeconds: 60, maskedPhone: "+1")
            })
        bus.register(Stub<Logout>(backstage: self) { NoContent() })
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
        bus.register(Stub<DisputeRecovery>(backstage: self) { RecoveryDisputed(status: "disputed") })
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
        return SessionChecked(isActive: !backstage.revoked.contains(request.sessionID))
    }
}

/// One request on a connection of its own, sent as bytes, and its answer.
struct Exchange: Sendable {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    init(port: Int, request: String) async throws {
        let bytes = try await Loop.offload { try Self.exchange(port, Array(request.utf8)) }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { throw POSIXError(.EPROTO) }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        status = Int(lines[0].split(separator: " ")[1]) ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.components(separatedBy: ": ")
            headers[parts[0]] = parts.dropFirst().joined(separator: ": ")
        }
        self.headers = headers
        body = Array(text[end.upperBound...].utf8)
    }

    /// The body as JSON; `null` where it is none.
    var json: JSONValue { (try? JSONValue.parse(body, limits: JSONLimits(depth: 64, values: 100_000))) ?? .null }

    private static func exchange(_ port: Int, _ request: [UInt8]) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        var (answer, room) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = recv(descriptor, &room, room.count, 0)
            guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            if count == 0 { return answer }
            answer += room[..<count]
        }
    }
}
