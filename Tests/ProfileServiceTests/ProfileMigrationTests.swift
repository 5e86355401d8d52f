import Database
import EventLoop
import TestSupport
import Testing

@testable import ProfileService

@Suite("migrations of profile") @Loop struct ProfileMigrationTests {
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

    /// Completing the plans of people who were backfilled takes as long as there are such people. Meanwhile everybody else uses
    /// every table.
    @Test func noTableIsLockedWhileThePlansOfBackfilledPeopleAreCompleted() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "profile")
        let before = try #require(ProfileMigrations.all.firstIndex { $0.name == "m0020_plan_progress" }) + 1
        _ = try await migrate(scratch, Array(ProfileMigrations.all.prefix(before)))
        let person = "00000000-0000-4000-8000-000000000001"
        try await scratch.query(
            """
            INSERT INTO profiles (person_id, onboarding_backfilled_at) VALUES ('\(person)', now());
            INSERT INTO plans (plan, version, content_hash, content) VALUES ('yoked', 1, sha256(''), '{}');
            INSERT INTO person_plans (person_id, app, plan, version) VALUES ('\(person)', '', 'yoked', 1);
            INSERT INTO consents (person_id, document, version, accepted_at) VALUES ('\(person)', 'terms', '1', now())
            """)
        let migrations = ProfileMigrations.all
        let database = Database(scratch.configuration())
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let migrated = try await database.transaction { transaction in
            _ = try await transaction.query("SELECT 1 FROM person_plans FOR UPDATE")
            let migrated = Loop.spawn { try await migrate(scratch, migrations) }
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            while try await scratch.query(waiting) == "0" {}
            let locked = try await scratch.query(
                """
                SELECT string_agg(DISTINCT c.relname, ' ') FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                WHERE l.granted AND l.locktype = 'relation' AND c.relkind = 'r'
                    AND l.mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareLock')
                    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """)
            #expect(locked == "")
            return migrated
        }
        #expect(try await migrated.value.last == ProfileMigrations.all.last?.name)
        #expect(try await scratch.query("SELECT completed_at IS NOT NULL FROM person_plans") == "t")
        // The former release stores a consent for each plan, and the key has the plan.
        try await scratch.query(
            """
            INSERT INTO consents (person_id, document, version, accepted_at) VALUES ('\(person)', 'terms', '1', now())
                ON CONFLICT DO NOTHING;
            INSERT INTO consents (person_id, plan, document, version, accepted_at)
                VALUES ('\(person)', 'yoked', 'terms', '1', now())
            """)
        #expect(try await scratch.query("SELECT plan FROM consents ORDER BY plan") == "\nyoked")
    }

    private func migrate(_ scratch: ScratchDatabase, _ migrations: [Migration]) async throws -> [String] {
        try await Migrator.run(
            owner: scratch.owner, schema: "profile", runtimeRole: "scratch_runtime", migrations: migrations
        ).applied
    }
}
