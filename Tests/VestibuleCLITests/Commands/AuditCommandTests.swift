import Database
import EventLoop
import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// The command on a state folder, whose system runs or does not.
@Suite("vestibule audit", .serialized) struct AuditCommandTests {
    @Test func auditVerifyReportsIntactAndBrokenTrails() async throws {
        let installation = try Installation()
        defer { installation.remove() }
        let state = installation.state
        func vestibule(_ words: String...) async throws -> (code: Int32, output: String) {
            try await Loop.offload { try installation.run(words + ["--state", state.path]) }
        }
        let free = try RawServer.listenAtFreePort()
        close(free.descriptor)
        #expect(try await vestibule("up", "--detach", "--http", "127.0.0.1:\(free.port)").code == 0)
        defer { _ = try? installation.run("down", "--state", state.path) }
        // The key that signs tokens is made at the first start, and its row anchored then or an hour later.
        let whole = try await vestibule("audit", "verify")
        #expect(whole.code == 0, "\(whole.output)")
        #expect(
            whole.output.split(separator: "\n").map { $0.prefix { $0 != " " } }.joined(separator: " ")
                == (["service"] + StateFolder.services).joined(separator: " "))
        let line = try #require(
            try JSONValue.parse(Array(try await vestibule("audit", "verify", "auth", "--json").output.utf8)).arrayValue)
        #expect(line.count == 1 && line[0]["rows"] == 1 && line[0]["chains"] == 1 && line[0]["file"] == true)

        try await tamper(try PostgresServer(state).url("auth_owner"))
        #expect(try await vestibule("down").code == 0)
        let broken = try await vestibule("audit", "verify")
        #expect(broken.code == 65)
        #expect(
            broken.output.contains("auth, chain service: row 1 (signing_key_made) does not follow from the beginning"))
        #expect(broken.output.hasSuffix("vestibule: the audit trails do not hold: 1 finding\n"))
        #expect(try await vestibule("audit", "verify", "profile").code == 0)

        // A service whose trail cannot be read hides nothing of the others.
        try FileManager.default.removeItem(atPath: state.keyRing("profile"))
        let partial = try await vestibule("audit", "verify")
        #expect(partial.code == 65 && partial.output.contains("auth, chain service: row 1"))
        #expect(partial.output.contains("1 finding; the trail of profile was not read: "), "\(partial.output)")
        let blind = try await vestibule("audit", "verify", "profile")
        #expect(blind.code != 0 && blind.output.contains("the trail of profile was not read: "), "\(blind.output)")
        try installation.wait("the end of every process") { installation.processes().isEmpty }
    }

    /// As the owner of the tables, who has to put the trigger aside.
    @Loop private func tamper(_ url: String) async throws {
        let database = Database(DatabaseConfiguration(connectionString: url, schema: "auth"))
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        _ = try await database.write("ALTER TABLE audit DISABLE TRIGGER append_only")
        _ = try await database.write("UPDATE audit SET at = at + interval '1 s'")
    }

    @Test(arguments: [
        (64, ["audit"]), (64, ["audit", "mend"]), (64, ["audit", "verify", "gateway"]),
        (69, ["audit", "verify", "--state", "/tmp/vestibule-test-nothing"]),
    ])
    func anErrorIsReportedInOneLine(code: Int, words: [String]) throws {
        let installation = try Installation()
        defer { installation.remove() }
        let result = try installation.run(words)
        #expect(Int(result.code) == code)
        #expect(result.output.hasPrefix("vestibule: ") && result.output.split(separator: "\n").count == 1)
    }
}
