import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Discovery") struct DiscoveryTests {
    @Test func readsItsTextForms() throws {
        #expect(try Discovery("ipc:/run/bus") == .directory("/run/bus"))
        #expect(try Discovery("dns:auth:7000") == .dns(host: "auth", port: 7000))
        #expect(
            try Discovery("tcp://10.0.0.1:7000, tcp://[::1]:7001")
                == .endpoints(["tcp://10.0.0.1:7000", "tcp://[::1]:7001"]))
        #expect(try Discovery("ipc:///run/a.sock") == .endpoints(["ipc:///run/a.sock"]))
    }

    @Test(arguments: ["", "auth", "dns:auth", "dns:auth:0", "ipc:run", "tcp://auth:7000", "tcp://10.0.0.1", "tcp://:1"])
    func refusesOthers(text: String) { #expect(throws: Discovery.ParseError.self) { try Discovery(text) } }

    @Test func everyAddressOfANameIsDialled() async throws {
        try await BusLab.run { lab in
            let server = try lab.server(at: "tcp://127.0.0.1:*")
            let port = try #require(server.endpoint?.split(separator: ":").last.flatMap { Int($0) })
            let client = try lab.client(of: .dns(host: "localhost", port: port))
            #expect(try await client.call(Echo(text: "a"), .standard).text == "a")
        }
    }

    @Test func aCallerThatFindsNoReplicaLooksAgainSoon() async throws {
        try await BusLab.run { lab in
            let client = try lab.client { $0.discoveryInterval = .seconds(60) }
            await #expect(throws: BusError.self) { try await client.call(Echo(text: "a"), .within(.milliseconds(200))) }
            _ = try lab.server()
            #expect(try await client.call(Echo(text: "a"), .standard).text == "a")
        }
    }

    @Test func aReplicaThatIsGoneIsForgottenAndItsFileSwept() async throws {
        try await BusLab.run { lab in
            let path = "\(lab.directory)/auth-dead.sock"
            try deadSocket(at: path)
            let server = try lab.server()
            let client = try lab.client()
            #expect(try await client.call(Echo(text: "a"), .standard).text == "a")
            // A new file is left alone, because its process might not listen yet.
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(try await eventually { !FileManager.default.fileExists(atPath: path) })
            server.stop()
            #expect(try await eventually { client.replicas(of: .auth).isEmpty })
        }
    }

    @Test func socketsAreForTheOwnerAndTheGroup() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let path = try #require(server.endpoint?.dropFirst("ipc://".count))
            let attributes = try FileManager.default.attributesOfItem(atPath: String(path))
            #expect(attributes[.posixPermissions] as? Int == 0o660)
        }
    }

    @Test func aSocketInUseIsNotTaken() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let endpoint = try #require(server.endpoint)
            #expect(throws: ZMQError.self) { try lab.server(at: endpoint) }
            let client = try lab.client()
            #expect(try await client.call(Echo(text: "a"), .standard).text == "a")
        }
    }

    @Test func aPathThatIsTooLongIsNamed() async throws {
        try await BusLab.run { lab in
            let long = String(repeating: "d", count: 60)
            let configuration = BusConfiguration(service: .auth)
            let error = #expect(throws: Discovery.ParseError.self) {
                try configuration.endpoint(inDirectory: "/\(long)/\(long)")
            }
            #expect(error?.description.contains("/\(long)/\(long)/auth-") == true)
            let bind = #expect(throws: ZMQError.self) { try lab.server(at: "ipc:///\(long)/\(long)") }
            #expect(bind?.description.contains("107") == true)
        }
    }

    /// Creates the socket file of a killed process: it is bound, and nobody listens.
    private func deadSocket(at path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }
}
