import BusProtocol
import EventLoop
import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// The command on a state folder, whose system runs or does not.
@Suite(.serialized) struct DeadLettersTests {
    @Test func deadLettersAreListedShownAndReplayedOnlineOrOffline() async throws {
        let installation = try Installation()
        defer { installation.remove() }
        let state = installation.state
        func vestibule(_ words: String...) async throws -> (code: Int32, output: String) {
            try await Loop.offload { try installation.run(words + ["--state", state.path]) }
        }
        func up() async throws {
            let free = try RawServer.listenAtFreePort()
            close(free.descriptor)
            #expect(try await vestibule("up", "--detach", "--http", "127.0.0.1:\(free.port)").code == 0)
        }
        try await up()
        defer { _ = try? installation.run("down", "--state", state.path) }
        #expect(try await vestibule("dead-letters", "list").output == "There are no dead letters.\n")
        let (first, second) = (Identifier.random(), Identifier.random())
        let url = try PostgresServer(state).url("auth")
        try await AccountEvents.publish(
            about: [first, first, first, second], database: url, keys: state.keyRing("auth"), deadAt: 1)

        let json = try await vestibule("dead-letters", "list", "--json").output
        let lines = try #require(try? JSONValue.parse(Array(json.utf8)), "\(json)")
        let letter = try #require(lines.arrayValue?.first { $0["personId"]?.stringValue == first.description })
        #expect(lines.arrayValue?.count == 2)
        #expect(letter["service"] == "auth" && letter["destination"] == "profile" && letter["waiting"] == 2)
        let id = try #require(letter["id"]?.stringValue)
        let number = try #require(letter["personSequence"]?.integerValue)
        let shown = try await vestibule("dead-letters", "show", id)
        #expect(shown.code == 0 && shown.output.contains("auth.account-created, version 1"))
        #expect(shown.output.contains("service_unavailable") && shown.output.contains(first.description))
        #expect(!shown.output.contains("createdAt"), "the event itself stays sealed")

        // One id is wrong: the other is put back all the same, and the command says which was not.
        let wrong = Identifier.random().description
        let replayed = try await vestibule("dead-letters", "replay", id, wrong)
        #expect(
            replayed.code == 1 && replayed.output.contains("1 put back") && replayed.output.contains(wrong),
            "\(replayed.output)")
        #expect(try await vestibule("dead-letters", "show", id).code == 1)
        #expect(try await vestibule("down").code == 0)

        // Nothing runs, and nothing does afterwards.
        let listed = try await vestibule("dead-letters", "list")
        #expect(listed.code == 0 && listed.output.split(separator: "\n").count == 2, "\(listed.output)")
        let all = try await vestibule("dead-letters", "replay", "--all")
        #expect(all.code == 0 && all.output.contains("1 put back"))
        #expect(try await vestibule("dead-letters", "replay", "--all").output == "There are no dead letters.\n")
        try installation.wait("the end of every process") { installation.processes().isEmpty }
        try await up()
        #expect(try await AccountEvents.areDelivered(database: url))
        #expect(
            try await AccountEvents.positions(of: [first, second], database: try PostgresServer(state).url("profile"))
                == [number + 2, number])
    }

    @Test(arguments: [
        (64, ["dead-letters"]), (64, ["dead-letters", "replay"]), (64, ["dead-letters", "show", "12"]),
        (64, ["dead-letters", "replay", "--all", "01890a5d-ac96-774b-bcce-b302099a8057"]),
        (69, ["dead-letters", "list", "--state", "/tmp/vestibule-test-nothing"]),
    ])
    func anErrorIsReportedInOneLine(code: Int, words: [String]) throws {
        let installation = try Installation()
        defer { installation.remove() }
        let result = try installation.run(words)
        #expect(Int(result.code) == code)
        #expect(result.output.hasPrefix("vestibule: ") && result.output.split(separator: "\n").count == 1)
    }

    @Test func anUnreachableDatabaseIsAnErrorAndNoEmptyList() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let result = try installation.run(
            ["dead-letters", "list"], variables: ["RECOVERY_DATABASE_URL": "host=/tmp/nowhere user=recovery"])
        #expect(result.code == 69)
        #expect(result.output.contains("RECOVERY_DATABASE_URL: that database cannot be reached"))
    }
}
