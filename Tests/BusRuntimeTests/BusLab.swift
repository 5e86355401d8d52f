import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText
import TestSupport

/// Asks for a text back. It changes nothing.
@Message
struct Echo: BusRequest {
    typealias Reply = Echoed
    static let type: MessageType = "auth.echo"
    static let rules = MessageRules(service: .auth, callers: [.gateway, .profile], effect: .read, largestBody: 65_536)
    @Field(.string(1...100_000)) var text: String
    @Field(.integer(0...9)) var number: Int?
}

@Message
struct Echoed: BusReply {
    @Field(.string(0...100_000)) var text: String
}

/// Has an effect, so it is repeated only with an idempotency key.
@Message
struct Charge: BusRequest {
    typealias Reply = Echoed
    static let type: MessageType = "auth.charge"
    static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .once)
}

/// Answers with a text that the test chooses.
struct EchoHandler: RequestHandler {
    var answer: @Loop @Sendable (Echo, RequestContext) async throws -> String = { request, _ in request.text }
    func handle(_ request: Echo, context: RequestContext) async throws -> Echoed {
        Echoed(text: try await answer(request, context))
    }
}

struct ChargeHandler: RequestHandler {
    var answer: @Loop @Sendable (RequestContext) async throws -> String
    func handle(_ request: Charge, context: RequestContext) async throws -> Echoed {
        Echoed(text: try await answer(context))
    }
}

/// A directory of sockets, and the buses that a test starts in it.
@Loop final class BusLab {
    let directory: String
    private var running: [Bus] = []

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/b\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Starts a ready replica of auth.
    func server(
        at endpoint: String? = nil, _ change: (inout BusConfiguration) -> Void = { _ in },
        handlers: [any RequestHandler] = [EchoHandler()]
    ) throws -> Bus {
        var configuration = BusConfiguration(service: .auth, build: "test")
        configuration.bind = [try endpoint ?? configuration.endpoint(inDirectory: directory)]
        change(&configuration)
        let bus = Bus(configuration)
        for handler in handlers { bus.register(handler) }
        try bus.start()
        bus.state = .ready
        running.append(bus)
        return bus
    }

    /// Starts a replica of auth in its own process.
    func process(at endpoint: String? = nil, variables: [String: String] = [:]) throws -> ReplicaProcess {
        let place = try endpoint ?? BusConfiguration(service: .auth).endpoint(inDirectory: directory)
        return try ReplicaProcess(at: place, in: directory, variables)
    }

    /// Starts a client of auth.
    func client(
        _ service: ServiceName = .gateway, of discovery: Discovery? = nil,
        _ change: (inout BusConfiguration) -> Void = { _ in }
    ) throws -> Bus {
        var configuration = BusConfiguration(service: service, build: "test")
        configuration.peers = [.auth: discovery ?? .directory(directory)]
        configuration.discoveryInterval = .milliseconds(20)
        // On a busy machine it takes a while to find a new replica.
        configuration.grace = .seconds(10)
        change(&configuration)
        let bus = Bus(configuration)
        try bus.start()
        running.append(bus)
        return bus
    }

    func close() {
        for bus in running { bus.stop() }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Runs a test on the loop and stops what it started.
    nonisolated static func run(_ body: @escaping @Loop @Sendable (BusLab) async throws -> Void) async throws {
        try await Loop.spawn { try await conduct(body) }.value
    }

    private static func conduct(_ body: @Loop @Sendable (BusLab) async throws -> Void) async throws {
        let lab = try BusLab()
        defer { lab.close() }
        try await body(lab)
    }
}

/// The error of a call; `nil` if it succeeds.
@Loop func failure(_ call: @Loop () async throws(BusError) -> some Sendable) async -> BusError? {
    do throws(BusError) {
        _ = try await call()
        return nil
    } catch {
        return error
    }
}

extension CallOptions {
    static var standard: CallOptions { CallOptions(timeout: .seconds(20)) }
    static func within(_ timeout: Duration, key: String? = nil) -> CallOptions {
        CallOptions(timeout: timeout, idempotencyKey: key)
    }
}

extension FrameHeader {
    /// The header of an echo request, as any peer could write it.
    static func echo(_ correlationID: UInt64, budgetMs: UInt32 = 2000) -> FrameHeader {
        var header = FrameHeader(kind: .request, correlationID: correlationID)
        header.messageType = Echo.type
        header.messageID = .ordered()
        header.budgetMs = budgetMs
        return header
    }
}

extension Bus {
    /// The number of requests that ended here, by code.
    func ended(_ message: String) -> [String: Int] {
        report.served.filter { $0.message == message }
            .reduce(into: [:]) { $0.merge($1.ended, uniquingKeysWith: +) }
    }
    /// The number of attempts after the first of each call.
    var retries: Int { report.asked.reduce(0) { $0 + $1.retries } }
    var losses: Int { report.fates.reduce(0) { $0 + $1.lost } }
    /// The number of frames from replicas that could not be read.
    var misread: Int { report.fates.reduce(0) { $0 + $1.malformedFrames } }
}
