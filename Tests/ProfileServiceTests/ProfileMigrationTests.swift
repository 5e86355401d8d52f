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

    /// Completing the plans of backfilled people takes longer the more of them there are. Meanwhile everybody else uses
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
        // The previous release stores a consent for each plan, and the key has the plan.
        try await scratch.query(
            """
            INSERT INTO consents (person_id, document, version, accepted_at) VALUES ('\(person)', 'terms', '1', now())
                ON CONFLICT DO NOTHING;
            INSERT INTO consents (person_id, plan, document, version, accepted_at)
                VALUES ('\(person)', 'yoked', 'terms', '1', now())
            """)
        #expect(try await scratch.query("SELECT plan FROM consents ORDER BY plan") == "\nyoked")
    }

    /// The first read copies older rows, and each later write copies its own.
    @Test func theCopiesInAProfileAgreeWithTheTables() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "profile")
        let before = try #require(ProfileMigrations.all.firstIndex { $0.name == "m0030_copies_in_profiles" })
        _ = try await migrate(scratch, Array(ProfileMigrations.all.prefix(before)))
        let copies = "SELECT copied_plans, copied_consents, copied_tasks FROM profiles ORDER BY person_id"
        try await scratch.query(
            """
            INSERT INTO plans (plan, version, content_hash, content) VALUES
                ('yoked', 1, sha256(''), '{}'), ('yoked', 2, sha256(''), '{}');
            INSERT INTO profiles (person_id) VALUES (md5('1')::uuid);
            INSERT INTO person_plans (person_id, app, plan, version) VALUES (md5('1')::uuid, '', 'yoked', 1)
            """)
        _ = try await migrate(scratch, ProfileMigrations.all)
        #expect(try await scratch.query(copies) == "||")
        try await scratch.query("SELECT copy_to_profile(md5('1')::uuid)")
        #expect(try await scratch.query(copies) == "{\u{1f}yoked\u{1f}1\u{1f}false}|{}|{}")
        try await scratch.query(
            """
            UPDATE person_plans SET version = 2, completed_at = now();
            INSERT INTO consents (person_id, plan, document, version, accepted_at)
                VALUES (md5('1')::uuid, 'yoked', 'terms', '3', '1970-01-01 00:00:01Z');
            INSERT INTO operator_tasks (person_id, task) VALUES (md5('1')::uuid, 'call');
            UPDATE person_plans SET steps = '{"a": 1}'
            """)
        #expect(
            try await scratch.query(copies)
                == "{\u{1f}yoked\u{1f}2\u{1f}true}|{yoked\u{1f}terms\u{1f}3\u{1f}1000000}|{call}")
        try await scratch.query("DELETE FROM operator_tasks; DELETE FROM consents; DELETE FROM person_plans")
        #expect(try await scratch.query(copies) == "{}|{}|{}")
        try await scratch.query(
            "INSERT INTO person_plans (person_id, app, plan, version) VALUES (md5('1')::uuid, '', 'yoked', 1); DELETE FROM profiles"
        )
        #expect(try await scratch.query("SELECT count(*) FROM person_plans") == "0")
    }

    /// Two who write of one person wait for each other, so that the copies have what both wrote.
    @Test func theCopiesHaveBothOfTwoConcurrentWrites() async throws {
        let scratch = try await ScratchDatabase.make(schema: "profile", migrations: ProfileMigrations.all)
        try await scratch.query("INSERT INTO profiles (person_id) VALUES (md5('1')::uuid)")
        let database = Database(scratch.configuration())
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let insert: Statement = "INSERT INTO operator_tasks (person_id, task) VALUES (md5('1')::uuid, $1)"
        let second = try await database.transaction { transaction in
            _ = try await transaction.query(insert, [.text("first")])
            let second = Loop.spawn {
                try await database.transaction {
                    $0.send("SET LOCAL lock_timeout = '30s'")
                    $0.send(insert, [.text("second")])
                }
            }
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            #expect(try await eventually { try await scratch.query(waiting) == "1" })
            return second
        }
        try await second.value
        #expect(try await scratch.query("SELECT copied_tasks FROM profiles") == "{first,second}")
    }

    /// The event names no plan. So it counts for one plan only, and not for a version that the person moved to later.
    @Test func peopleCompleteBeforeItWasStoredAreCounted() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "profile")
        let before = try #require(ProfileMigrations.all.firstIndex { $0.name == "m0027_plans_completed_before" })
        _ = try await migrate(scratch, Array(ProfileMigrations.all.prefix(before)))
        try await scratch.query(
            """
            INSERT INTO plans (plan, version, content_hash, content, published_at) VALUES
                ('yoked', 1, sha256(''), '{}', '2026-02-01Z'), ('yoked', 2, sha256(''), '{}', '2026-03-01Z');
            INSERT INTO profiles (person_id) SELECT md5(n::text)::uuid FROM generate_series(1, 6) AS n;
            INSERT INTO person_plans (person_id, app, plan, version, began_at, completed_at) VALUES
                (md5('1')::uuid, '', 'yoked', 1, '2026-02-02Z', NULL), (md5('2')::uuid, '', 'yoked', 1, '2026-02-02Z', NULL),
                (md5('3')::uuid, '', 'yoked', 1, '2026-02-09Z', NULL), (md5('4')::uuid, '', 'yoked', 2, '2026-02-02Z', NULL),
                (md5('5')::uuid, '', 'yoked', 1, '2026-02-02Z', NULL), (md5('5')::uuid, 'a', 'yoked', 1, '2026-02-02Z', NULL),
                (md5('6')::uuid, '', 'yoked', 1, '2026-02-02Z', '2026-02-03Z');
            INSERT INTO onboarding_events (event_id, person_id, name, at)
                SELECT gen_random_uuid(), md5(n::text)::uuid, 'onboarding_completed', '2026-02-08Z'
                FROM unnest(ARRAY[1, 3, 4, 5, 6]) AS n
            """)
        _ = try await migrate(scratch, ProfileMigrations.all)
        let completed = try await scratch.query(
            """
            SELECT n, to_char(completed_at AT TIME ZONE 'UTC', 'DD') FROM generate_series(1, 6) AS n
                JOIN person_plans ON person_id = md5(n::text)::uuid
            WHERE completed_at IS NOT NULL ORDER BY n
            """)
        #expect(completed == "1|08\n3|09\n6|03")
    }

    private func migrate(_ scratch: ScratchDatabase, _ migrations: [Migration]) async throws -> [String] {
        try await Migrator.run(
            owner: scratch.owner, schema: "profile", runtimeRole: "scratch_runtime", migrations: migrations
        ).applied
    }
}
