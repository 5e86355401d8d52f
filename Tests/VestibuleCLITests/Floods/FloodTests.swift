import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VestibuleCLI

/// A gateway and auth as they were built, and somebody who wants to keep everybody else out.
@Suite("floods", .serialized) struct FloodTests {
    /// Each request has a connection of its own, as that of a newcomer has.
    private func measure(_ count: Int, _ port: Int, _ token: String) async throws -> [Duration] {
        try await Loop.offload {
            try (0..<count).map { _ in
                usleep(1000)
                var status = 0
                let took = ContinuousClock().measure {
                    let header = "Authorization: Bearer \(token)\r\n"
                    status = AddressedSocket.status(port, from: "127.0.0.3", "/auth/sessions", header)
                }
                try #require(status == 200)
                return took
            }
        }
    }

    private func p99(_ times: [Duration]) -> Duration { times.sorted()[times.count * 99 / 100] }

    @Test("half requests of one address keep nobody out and make nobody wait", .timed)
    func halfRequests() async throws {
        try await Fleet.run { fleet in
            try fleet.start(.auth)
            try await fleet.ready(.auth, 1)
            let port = try fleet.startGateway()
            let session = try await fleet.signIn("+14155552671")
            try #require(
                try await eventually {
                    AddressedSocket.status(
                        port, from: "127.0.0.3", "/auth/sessions", "Authorization: Bearer \(session.accessToken)\r\n")
                        == 200
                })
            let connections = Rounds.count(800, prove: 5000)
            var (quiet, flooded): ([Duration], [Duration]) = ([], [])
            for _ in 0..<Rounds.count(2, prove: 4) {
                quiet += try await measure(Rounds.count(300, prove: 500), port, session.accessToken)
                let flood = HalfRequests(connections, at: port)
                defer { flood.end() }
                try #require(try await eventually { flood.count >= connections })
                flooded += try await measure(Rounds.count(300, prove: 500), port, session.accessToken)
                for path in ["/healthz", "/readyz"] {
                    #expect(AddressedSocket.status(port, from: HalfRequests.source, path) != 0, "its own address, too")
                }
            }
            let (calm, loud) = (p99(quiet), p99(flooded))
            #expect(loud <= calm * 1.2, .time("p99 \(calm) quiet, \(loud) with \(connections) half requests"))
            if Rounds.count(0, prove: 1) == 1 { print("flood: p99 \(calm) quiet, \(loud) with \(connections)") }
        }
    }
}
