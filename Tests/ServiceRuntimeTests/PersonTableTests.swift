import BusProtocol
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ServiceRuntime

/// Tables about people that no section describes.
@Suite("tables about people") struct PersonTableTests {
    private static let (person, other) = (Identifier.random(), Identifier.random())

    /// A schema in which `people` and `secrets` are described, and the rest is not.
    private static let migration = Migration(
        name: "m0001_tables",
        sql: """
            SET LOCAL search_path = {{schema}};
            CREATE TABLE people (person_id uuid PRIMARY KEY);
            CREATE TABLE secrets (person_id uuid PRIMARY KEY, sealed bytea);
            CREATE TABLE nicknames (
                person_id uuid PRIMARY KEY REFERENCES people (person_id) ON DELETE CASCADE,
                nickname text NOT NULL, set_at timestamptz, is_shown boolean, sealed bytea
            );
            CREATE TABLE visits (
                id bigserial, person_id uuid, place text, "Odd name" jsonb, PRIMARY KEY (person_id, id, place));
            CREATE TABLE marks (person_id uuid PRIMARY KEY);
            """)
    private static let sections = [
        ExportSection(
            "human", of: ["people"], "SELECT 'human' AS key, '{}'::jsonb AS record FROM people WHERE person_id = $1"),
        ExportSection("secret", of: ["secrets"], "SELECT 'x' AS key, '{}'::jsonb AS record WHERE $1::uuid IS NULL"),
    ]

    @Loop private static func run(_ body: @escaping @Loop @Sendable (Database, ScratchDatabase) async throws -> Void)
        async throws
    {
        let scratch = try await ScratchDatabase.make(schema: "sample", migrations: [migration])
        for id in [person, other] {
            try await scratch.query(
                """
                INSERT INTO people VALUES ('\(id)');
                INSERT INTO secrets VALUES ('\(id)', '\\x01');
                INSERT INTO nicknames VALUES ('\(id)', 'Alex', '2026-03-01 12:00:00.5+01', NULL, '\\x01');
                INSERT INTO visits (person_id, place, "Odd name")
                    SELECT '\(id)', repeat('ö', 400), to_jsonb(n) FROM generate_series(1, 120) AS n;
                INSERT INTO marks VALUES ('\(id)');
                """)
        }
        let database = Database(scratch.configuration())
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        try await body(database, scratch)
    }

    @Test func areExportedFromPageToPage() async throws {
        try await Loop.spawn {
            try await Self.run { database, _ in
                let export = PersonExport(database: database, sections: Self.sections)
                var (after, records, sizes) = (String?.none, [JSONValue](), [Int]())
                repeat {
                    let page = try await export.page(of: Self.person, after: after) { _ in }
                    #expect(try page.schemaProblems == [])
                    records += try page.records.map { try JSONValue.parse(Array($0.utf8)) }
                    sizes.append(page.records.count)
                    after = page.next
                } while after != nil
                #expect(
                    records.prefix(2) == [
                        ["kind": "human"],
                        [
                            "kind": "nicknames", "nickname": "Alex", "setAt": "2026-03-01T11:00:00.500000Z",
                            "isShown": .null,
                        ],
                    ])
                let visits = records.dropFirst(2).dropLast()
                #expect(visits.compactMap { $0["Odd name"]?.integerValue } == Array(1...120), "in the order of the key")
                #expect(visits.first?["place"]?.stringValue == String(repeating: "ö", count: 400))
                #expect(records.last == ["kind": "marks"])
                #expect(sizes == [50, 50, 23])
            }
        }.value
    }

    @Test func areErasedOfOnePerson() async throws {
        try await Loop.spawn {
            try await Self.run { database, scratch in
                try await database.transaction { transaction in
                    transaction.send("DELETE FROM people WHERE person_id = $1", [.uuid(Self.person)])
                    try await PersonTable.erase(Self.person, besides: Self.sections, in: transaction)
                }
                for (table, left) in [("people", 1), ("nicknames", 1), ("visits", 120), ("marks", 1), ("secrets", 2)] {
                    #expect(try await scratch.query("SELECT count(*) FROM \(table)") == "\(left)", "\(table)")
                }
            }
        }.value
    }

    /// As of a release that comes while this one still runs.
    @Test func areFoundWhenTheyAreNew() async throws {
        try await Loop.spawn {
            try await Self.run { database, scratch in
                let export = PersonExport(database: database, sections: [])
                _ = try await export.page(of: Self.person, after: nil) { _ in }
                try await scratch.query(
                    """
                    SET ROLE scratch_owner;
                    CREATE TABLE sample.later AS SELECT person_id FROM sample.people;
                    """)
                try await database.transaction { transaction in
                    try await PersonTable.erase(Self.person, besides: [], in: transaction)
                }
                #expect(try await scratch.query("SELECT count(*) FROM later") == "1")
            }
        }.value
    }

    @Test func haveRules() async throws {
        try await Loop.spawn {
            try await Self.run { _, scratch in
                let described = Self.sections.flatMap(\.columns)
                let bytes =
                    "nicknames.sealed has bytes, which are never exported by themselves: "
                    + "describe nicknames by an ExportSection"
                #expect(try await PersonTableRules.problems(in: scratch, described: described) == [bytes])
                #expect(
                    try await PersonTableRules.problems(in: scratch, described: described + ["nicknames.person_id"])
                        == [])
                try await scratch.query(
                    """
                    ALTER TABLE nicknames DROP COLUMN sealed;
                    REVOKE DELETE ON marks FROM scratch_runtime;
                    SET ROLE scratch_owner;
                    CREATE TABLE texts (person_id text PRIMARY KEY);
                    CREATE TABLE heaps (person_id uuid);
                    CREATE TABLE partial (id int PRIMARY KEY, person_id uuid REFERENCES people);
                    CREATE INDEX ON partial (person_id) WHERE id > 1;
                    CREATE TABLE pages (id int PRIMARY KEY REFERENCES partial);
                    """)
                #expect(
                    try await PersonTableRules.problems(in: scratch, described: described) == [
                        "heaps has no index that begins with person_id",
                        "heaps has no primary key, by which an export goes from page to page",
                        "marks: the service's role may not read and delete its rows",
                        "pages refers to partial without ON DELETE CASCADE",
                        "partial has no index that begins with person_id",
                        "partial refers to people without ON DELETE CASCADE", "texts.person_id is no uuid",
                    ])
            }
        }.value
    }
}

extension ExportPage {
    /// What a gateway would refuse.
    fileprivate var schemaProblems: [String] {
        get throws { Self.schema.problems(in: try JSONDocument(jsonBytes).root).map { "\($0)" } }
    }
}
