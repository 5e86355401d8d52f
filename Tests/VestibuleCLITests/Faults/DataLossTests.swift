import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// Data that are gone are missed, and nothing empty takes their place.
@Suite(.serialized) struct DataLossTests {
    @Test func aLossOfDataIsReportedAndNeverReplacedByEmptyTables() throws {
        let system = try RunningSystem(scale: "auth=1")
        defer { system.stop() }
        let (installation, state) = (system.installation, system.installation.state)
        let client = try HTTPClient(system.address)
        try system.signIn("+14155550123", client)
        let (data, aside) = ("\(state.path)/postgres", "\(state.path)/aside")
        let folder = FileManager.default.fileExists(atPath: data) ? data : try #require(Self.folderElsewhere(state))
        func up() throws -> (code: Int32, output: String) {
            try installation.run("up", "--state", state.path, "--http", system.address, "--detach")
        }
        func log() -> String { (try? String(contentsOfFile: state.log("supervisor"), encoding: .utf8)) ?? "" }

        // Under running services.
        let server = try #require(Self.server(folder))
        try FileManager.default.moveItem(atPath: "\(folder)/PG_VERSION", toPath: aside)
        kill(server, SIGKILL)
        try installation.wait("the supervisor's word") { log().contains("\(folder)/PG_VERSION is missing") }
        try installation.wait("a system that is not ready") { (try? client.send("GET", "/readyz"))?.status == 503 }
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/PG_VERSION"))
        #expect(FileManager.default.fileExists(atPath: "\(folder)/base"))
        try FileManager.default.moveItem(atPath: aside, toPath: "\(folder)/PG_VERSION")
        try installation.wait("the data's return") { (try? client.send("GET", "/readyz"))?.status == 200 }
        #expect(try system.sql("SELECT count(*) FROM auth.accounts") == "1\n")
        #expect(log().components(separatedBy: "PG_VERSION is missing").count == 2, "said once")

        // A service's tables, under its feet.
        try system.sql("DROP SCHEMA recovery CASCADE")
        try installation.wait("a service that misses its tables") {
            let answer = try client.send("GET", "/readyz")
            return answer.status == 503 && answer.body["schemaMissing"] == ["recovery"]
        }
        #expect(try installation.run("down", "--state", state.path).code == 0)
        let without = try up()
        #expect(without.code == 69, "\(without.output)")
        #expect(without.output.contains("every table of recovery is missing"))
        #expect(without.output.split(separator: "\n").count == 1)

        // At the start.
        try FileManager.default.moveItem(atPath: folder, toPath: "\(folder).kept")
        let empty = try up()
        #expect(empty.code == 69 && empty.output.contains("\(folder)/PG_VERSION is missing"), "\(empty.output)")
        #expect(empty.output.contains("docs/operations/restore.md") && empty.output.split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: folder), "no empty one in its place")
        let look = try installation.run("audit", "verify", "--state", state.path)
        #expect(look.code == 69 && look.output.contains("PG_VERSION is missing"))
        try FileManager.default.moveItem(atPath: "\(folder).kept", toPath: folder)
        try installation.wait("the end of every process") { installation.processes().isEmpty }
    }

    @Test func aFirstStartResumesAfterAnInterruption() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let postgres = try PostgresServer(installation.state)
        try postgres.createWhereNew()
        try postgres.createWhereNew()
        let migrated = try installation.run("migrate", "--state", installation.state.path)
        #expect(migrated.code == 0 && migrated.output.hasPrefix("auth: applied m0000_runtime, "), "\(migrated.output)")
        let again = try installation.run("migrate", "recovery", "--state", installation.state.path)
        #expect(again.output == "recovery: up to date\n")
        for (words, code) in [(["migrate", "gateway"], 64), (["migrate", "--frob"], 64)] {
            #expect(try installation.run(words).code == Int32(code))
        }
        // The key rings come behind the tables: without one the folder is still new.
        try installation.state.ensureKeys()
        try postgres.start()
        try postgres.stop()
    }

    private static func server(_ folder: String) -> pid_t? {
        let text = try? String(contentsOfFile: "\(folder)/postmaster.pid", encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    /// Where the server's user cannot reach the state folder.
    private static func folderElsewhere(_ state: StateFolder) -> String? {
        let folder = "/var/lib/\(URL(filePath: state.sockets).lastPathComponent)-postgres"
        return FileManager.default.fileExists(atPath: folder) ? folder : nil
    }
}
