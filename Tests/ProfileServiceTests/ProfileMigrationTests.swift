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
        let applied = try await migrate(scratch, Array(ProfileMigrations.all.prefix(2)))
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

    @Test func coordinatesFromBeforeAreRoundedInTheProfileAndInItsHistory() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "profile")
        _ = try await migrate(scratch, Array(ProfileMigrations.all.prefix(2)))
        let exact = #"{"latitude": 59.329323, "longitude": -18.068581}"#
        try await scratch.query(
            """
            INSERT INTO profiles (person_id, fields) VALUES
                ('00000000-0000-4000-8000-000000000001', '{"coordinates": {"state": "answered", "value": \(exact)}}'),
                ('00000000-0000-4000-8000-000000000002', '{"coordinates": null, "bio": {"state": "skipped"}}');
            INSERT INTO profile_field_history (person_id, key, state, value) VALUES
                ('00000000-0000-4000-8000-000000000001', 'coordinates', 'answered', '\(exact)'),
                ('00000000-0000-4000-8000-000000000002', 'coordinates', 'cleared', NULL)
            """)
        _ = try await migrate(scratch, ProfileMigrations.all)
        let rounded = #"{"latitude": 59.33, "longitude": -18.07}"#
        #expect(
            try await scratch.query("SELECT fields FROM profiles ORDER BY person_id") == """
                {"coordinates": {"state": "answered", "value": \(rounded)}}
                {"bio": {"state": "skipped"}, "coordinates": null}
                """)
        #expect(
            try await scratch.query("SELECT value FROM profile_field_history WHERE value IS NOT NULL") == rounded)
    }

    private func migrate(_ scratch: ScratchDatabase, _ migrations: [Migration]) async throws -> [String] {
        try await Migrator.run(
            owner: scratch.owner, schema: "profile", runtimeRole: "scratch_runtime", migrations: migrations
        ).applied
    }
}
