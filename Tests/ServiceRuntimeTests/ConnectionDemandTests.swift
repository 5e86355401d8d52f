import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("The connections that replicas may open") struct ConnectionDemandTests {
    private static let definition = ServiceDefinition(
        name: .profile, variables: [], migrations: [], peers: [], assemble: { _ in })

    /// Each replica looks once, at its start. The server has 297 connections: three pools of 64 fit four fifths of them, four do not.
    @Test func aReplicaWhosePoolIsOneTooManyLogsIt() async throws {
        let pool = ["PROFILE_DATABASE_POOL": "64"]
        try await ServiceStage.run(Self.definition, replicas: 3, environment: pool) { stage in
            @Loop func warnings() throws -> [JSONValue] {
                try stage.log.text.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
                    .filter { $0["event"] == "database_connections_scarce" }
            }
            try await stage.untilReady()
            try await stage.addReplica()
            #expect(try await eventually { try !warnings().isEmpty })
            for warning in try warnings() {
                #expect(warning["level"] == "warning" && warning["pools"] == 256 && warning["most"] == 297)
            }
        }
    }
}
