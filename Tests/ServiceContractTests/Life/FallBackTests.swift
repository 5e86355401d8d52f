import BusProtocol
import Database
import EventLoop
import TestSupport
import Testing

/// Two clusters: one for profile, and one for all other services. Profile's standby takes over without the last
/// transactions.
@Suite("a service whose database falls back") struct FallBackTests {
    @Test func aServiceGetsEventsAgainThatItsStandbyLost() async throws {
        let primary = try await Loop.offload { try ScratchCluster("-profile") }
        defer { primary.destroy() }
        let definition = try #require(TestSystem.definitions.first { $0.name == .profile })
        _ = try await Migrator.run(
            owner: "host=\(primary.folder) dbname=postgres user=postgres", schema: "profile",
            runtimeRole: "scratch_runtime", migrations: definition.migrations)
        let standby = try await Loop.offload { try ScratchCluster("-profile-standby", following: primary) }
        defer { standby.destroy() }
        let url = "host=\(primary.folder),\(standby.folder) dbname=postgres user=scratch_runtime"
        try await TestSystem.run(elsewhere: [.profile: url]) { system in
            let session = try await system.signIn("+46701234567")
            let agreed = "SELECT count(*) FROM profile.event_producers WHERE producer IN ('auth', 'questionnaire')"
            #expect(
                try await eventually {
                    for service in [ServiceName.auth, .questionnaire] { system.hurry(service) }
                    return try await primary.rows(agreed) == "2"
                })
            _ = try await system.ask(UpdateMe(fields: ["displayName": "Zoë"]), as: session)
            try await system.quiet()
            try await Loop.offload {
                try standby.waitForAll(of: primary)
                try standby.stop("fast")
            }
            // The standby misses the event that the questionnaire is done.
            _ = try await system.ask(
                SubmitResponses(answers: QuestionnaireProvider.required, complete: true), as: session)
            try await system.quiet()
            let done = "SELECT count(questionnaire_completed_at) FROM profile.profiles"
            #expect(try await primary.rows(done) == "1")
            try await Loop.offload {
                try primary.stop("immediate")
                try standby.start()
                try standby.promote()
            }
            #expect(try await standby.rows(done) == "0", "it was lost")
            // A newer event of the same producer about the same person comes first, and must not hide the lost one.
            // Profile refuses it, so the producer asks for the epoch.
            _ = try await system.ask(OpenSession(questionnaire: "skin-care"), as: session)
            #expect(try await eventually(within: .seconds(30)) { try await standby.rows(done) == "1" })
            let stale = "SELECT count(*) FROM profile.event_producers WHERE epoch <> profile.database_epoch()"
            #expect(try await standby.rows("\(stale) AND producer = 'questionnaire'") == "0")
        }
    }
}

extension ScratchCluster {
    fileprivate func rows(_ sql: String) async throws -> String {
        try await Loop.offload { try self.query("postgres", sql) }
    }
}
