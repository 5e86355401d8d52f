import Database
import EventLoop
import TestSupport
import Testing

@testable import ProfileService

@Suite("migrations of profile") struct ProfileMigrationTests {
    @Test func fieldsThatWereRowsAreInTheProfileAndInItsHistory() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "profile")
        _ = try await migrate(scratch, Array(ProfileMigrations.all.prefix(1)))
        try await scratch.query(
            """
            INSERT INTO profiles (person_id) VALUES ('00000000-0000-4000-8000-000000000001'),
                ('00000000-0000-4000-8000-000000000002');
            INSERT INTO profile_fields (person_id, key, state, value) VALUES
                ('00000000-0000-4000-8000-000000000001', 'bio', 'answered', '"Hej"'),
                ('00000000-0000-4000-8000-000000000001', 'photo', 'skipped', NULL)
            """)
        let applied = try await migrate(scratch, ProfileMigrations.all)
        #expect(applied == ["m0002_fields_in_profiles"])
        #expect(
            try await scratch.query("SELECT fields FROM profiles ORDER BY person_id") == """
                {"bio": {"state": "answered", "value": "Hej"}, "photo": {"state": "skipped"}}
                {}
                """)
        #expect(
            try await scratch.query("SELECT key, state, value FROM profile_field_history ORDER BY key")
                == "bio|answered|\"Hej\"\nphoto|skipped|")
    }

    private func migrate(_ scratch: ScratchDatabase, _ migrations: [Migration]) async throws -> [String] {
        try await Migrator.run(
            owner: scratch.owner, schema: "profile", runtimeRole: "scratch_runtime", migrations: migrations)
    }
}
