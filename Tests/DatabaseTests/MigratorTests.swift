import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("migrations") struct MigratorTests {
    private let first = Migration(name: "m0001_a", sql: "CREATE TABLE {{schema}}.a (id int)")
    private let runtime = RuntimeMigrations.all.map(\.name)
    private let second = Migration(name: "m0002_b", sql: "CREATE TABLE {{schema}}.b (id int)")

    private func run(_ scratch: ScratchDatabase, _ migrations: [Migration]) async throws -> [String] {
        try await Migrator.run(
            owner: scratch.owner, schema: "shop", runtimeRole: "scratch_runtime", migrations: migrations
        ).applied
    }

    @Test func eachIsAppliedOnceInOrder() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "shop")
        #expect(try await run(scratch, [first]) == runtime + ["m0001_a"])
        #expect(try await run(scratch, [first, second]) == ["m0002_b"])
        #expect(try await run(scratch, [first, second]) == [])
    }

    @Test func anEditedOrUnknownFileIsRefused() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "shop")
        _ = try await run(scratch, [first, second])
        let edited = Migration(name: "m0001_a", sql: first.sql + " ")
        let error = await #expect(throws: MigrationError.self) { try await run(scratch, [edited, second]) }
        #expect(error?.description == "the migration m0001_a was edited after it was applied; write a new one instead")
        let other = Migration(name: "m0002_c", sql: "CREATE TABLE {{schema}}.c (id int)")
        let strange = await #expect(throws: MigrationError.self) { try await run(scratch, [first, other]) }
        #expect(strange?.description.contains("the migration m0002_b, which this build does not know") == true)
        #expect(try await scratch.query("SELECT to_regclass('c') IS NULL") == "t")
    }

    /// This happens after a rollback, and when a replica of the previous release restarts during an upgrade.
    @Test func migrationsOfANewerReleaseAreLeftAlone() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "shop")
        _ = try await run(scratch, [first, second])
        let back = try await Migrator.run(
            owner: scratch.owner, schema: "shop", runtimeRole: "scratch_runtime", migrations: [first])
        #expect(back.applied == [] && back.newer == ["m0002_b"])
        #expect(try await run(scratch, [first, second]) == [], "and forward again")
        let edited = Migration(name: "m0001_a", sql: first.sql + " ")
        await #expect(throws: MigrationError.self) { try await run(scratch, [edited]) }
    }

    /// An operator who lost a database must not find an empty one in its place.
    @Test func aLostSchemaIsNotCreatedAgain() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "shop")
        func migrate() async throws {
            _ = try await Migrator.run(
                owner: scratch.owner, schema: "shop", runtimeRole: "scratch_runtime", migrations: [first],
                mayBegin: false)
        }
        let error = await #expect(throws: MigrationError.self) { try await migrate() }
        #expect(error?.description.hasPrefix("the tables of shop are missing") == true)
        #expect(try await scratch.query("SELECT to_regnamespace('shop') IS NULL") == "t")
        _ = try await run(scratch, [first])
        try await migrate()
    }

    @Test func aFailingFileLeavesNothing() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "shop")
        let broken = Migration(name: "m0001_c", sql: "CREATE TABLE {{schema}}.c (id int); SELECT 1 / 0")
        await #expect(throws: MigrationError.self) { try await run(scratch, [broken]) }
        #expect(try await scratch.query("SELECT to_regclass('c') IS NULL") == "t")
        #expect(try await run(scratch, [first]) == ["m0001_a"])
    }

    @Test func fourAtOnceApplyEachOnce() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "shop")
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 { group.addTask { try await run(scratch, [first, second]) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied.sorted() == (runtime + ["m0001_a", "m0002_b"]).sorted())
    }
}
