import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText
import TestSupport

@testable import AuthService
@testable import Gateway

/// Gateways in front of auth as it is, with one bus for all of them.
@Loop final class Gateways {
    private let bus: Bus
    private(set) var all: [GatewayServer] = []

    init(_ count: Int, before auth: AuthStage) async throws {
        bus = auth.gateway
        for _ in 0..<count { try add() }
        for gateway in all {
            while try await Self.get("/.well-known/jwks.json", at: gateway).status != 200 {
                try await Loop.sleep(for: .milliseconds(10))
            }
        }
    }

    /// One more, which has not heard of auth yet.
    @discardableResult
    func add(routes: RouteTable = .vestibule) throws -> GatewayServer {
        var configuration = GatewayConfiguration()
        (configuration.port, configuration.rateLimit) = (0, nil)
        let gateway = GatewayServer(configuration, bus: bus, table: routes)
        try gateway.start()
        all.append(gateway)
        return gateway
    }

    func close() async { for gateway in all { await gateway.drain() } }

    static func get(_ path: String, at gateway: GatewayServer, token: String? = nil) async throws -> Exchange {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return try await Exchange(
            port: gateway.boundPort,
            request: "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(authorization)\r\n")
    }
}
