import Database
import EventLoop
import TestSupport
import Testing

@testable import AuthService

@Suite("migrations of auth") struct AuthMigrationTests {
    private static let (recovered, robbed) = (
        "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
    )
    private static let older = "00000000-0000-4000-8000-000000000003"

    private func migrate(_ scratch: ScratchDatabase, to last: String) async throws {
        let count = try #require(AuthMigrations.all.firstIndex { $0.name == last }) + 1
        _ = try await Migrator.run(
            owner: scratch.owner, schema: "auth", runtimeRole: "scratch_runtime",
            migrations: Array(AuthMigrations.all.prefix(count)))
    }

    @Test func freezesThatAreOpenGetAHoldAndThoseOfThePreviousReleaseToo() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "auth")
        try await migrate(scratch, to: "m0023_freezes_end")
        let insert = "INSERT INTO freezes (case_id, until, created_at) VALUES (gen_random_uuid(), now(), "
        try await scratch.query(insert + "now() - interval '1 day')")
        try await migrate(scratch, to: "m0024_holds")
        #expect(try await scratch.query("SELECT hold_until - created_at FROM freezes") == "3 days")
        try await scratch.query("DELETE FROM freezes; \(insert)now())")
        #expect(
            try await scratch.query("SELECT hold_until > now() + interval '71:59' FROM freezes") == "t")
    }

    /// For a recovery in the last month, the freeze says so. An older one shows by a number that no session took off.
    @Test func formerNumbersOfRecoveredAccountsGo() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "auth")
        try await migrate(scratch, to: "m0024_holds")
        let session = "00000000-0000-4000-8000-000000000009"
        try await scratch.query(
            """
            INSERT INTO accounts (id) VALUES ('\(Self.recovered)'), ('\(Self.robbed)'), ('\(Self.older)');
            INSERT INTO freezes (case_id, person_id, until, applied_at) VALUES
                (gen_random_uuid(), '\(Self.recovered)', now(), now() - interval '2 days'),
                (gen_random_uuid(), '\(Self.robbed)', now(), NULL);
            INSERT INTO phone_aliases (person_id, hash, key_id, sealed, until, taken_off_at, changed_by) VALUES
                ('\(Self.recovered)', 'before', 'k', '', now(), now() - interval '9 days', '\(session)'),
                ('\(Self.recovered)', 'at', 'k', '', now(), now() - interval '2 days', NULL),
                ('\(Self.recovered)', 'since', 'k', '', now(), now() - interval '1 day', '\(session)'),
                ('\(Self.robbed)', 'own', 'k', '', now(), now() - interval '9 days', '\(session)'),
                ('\(Self.older)', 'older', 'k', '', now(), now() - interval '61 days', '\(session)'),
                ('\(Self.older)', 'old', 'k', '', now(), now() - interval '60 days', NULL)
            """)
        try await migrate(scratch, to: "m0025_no_alias_of_a_recovery")
        let left = "SELECT string_agg(convert_from(hash, 'UTF8'), ' ' ORDER BY hash) FROM phone_aliases"
        #expect(try await scratch.query(left) == "own since")
    }

    /// The account got each number when it lost the one before, and the first number when it was created.
    @Test func formerNumbersGetTheTimeThatTheyWereHeld() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "auth")
        try await migrate(scratch, to: "m0028_doubted_removals")
        try await scratch.query(
            """
            INSERT INTO accounts (id, created_at) VALUES ('\(Self.robbed)', now() - interval '30 days');
            INSERT INTO phone_aliases (person_id, hash, key_id, sealed, until, taken_off_at) VALUES
                ('\(Self.robbed)', 'own', 'k', '', now(), now() - interval '5 days'),
                ('\(Self.robbed)', 'thiefs', 'k', '', now(), now() - interval '4 days 23 hours')
            """)
        try await migrate(scratch, to: "m0029_proofs_have_an_age")
        let held = "SELECT string_agg(convert_from(hash, 'UTF8') || ' ' || held, ', ' ORDER BY hash) FROM phone_aliases"
        #expect(try await scratch.query(held) == "own 25 days, thiefs 01:00:00")
    }
}
