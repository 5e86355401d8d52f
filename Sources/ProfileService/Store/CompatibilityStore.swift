import BusProtocol
import Database
import EventLoop
import JSONText

/// Rows of the compatibilities that people looked at, with the figures that they saw.
@Loop struct CompatibilityStore {
    /// Two people, and the questionnaire by which they are compared.
    struct Pair: Sendable {
        let person: Identifier
        let other: Identifier
        let questionnaire: String
    }

    /// A figure, and the day on which it was made.
    struct Figure: Sendable {
        let told: Compatibility
        let madeOn: CivilDate
    }

    /// The stored facts about a pair before the person looks.
    struct Knowledge: Sendable {
        /// The figure that the person saw.
        var own: Figure?
        /// The figure that the other person saw.
        var others: Figure?
        /// How many people the person has looked at for the first time today.
        var looksToday: Int64 = 0
    }

    /// How long a pair keeps its figure.
    static nonisolated let days = 30

    static func knowledge(
        of pair: Pair, today: CivilDate, in transaction: Transaction
    ) async throws -> Knowledge {
        var knowledge = Knowledge()
        let first = CivilDate(daysSinceEpoch: today.daysSinceEpoch - days)
        let rows = try await transaction.query(
            select, [.uuid(pair.person), .uuid(pair.other), .text(pair.questionnaire), .date(first)])
        for row in rows {
            guard let madeOn = try row.optionalDate("made_on") else { continue }
            let figure = Figure(
                told: try WireJSON.decode(Compatibility.self, from: row.json("figure")), madeOn: madeOn)
            if try row.bool("is_own") { knowledge.own = figure } else { knowledge.others = figure }
        }
        knowledge.looksToday =
            try await transaction.query(count, [.uuid(pair.person), .date(today)]).first?.integer("count") ?? 0
        return knowledge
    }

    /// - Returns: false if the other person's profile no longer exists.
    static func note(
        _ figure: Figure, of pair: Pair, today: CivilDate, in transaction: Transaction
    ) async throws -> Bool {
        try await !transaction.query(
            insert,
            [
                .uuid(pair.person), .text(pair.questionnaire), .uuid(pair.other),
                .json(try WireJSON.encode(figure.told)), .date(figure.madeOn), .date(today),
            ]
        ).isEmpty
    }

    /// Deletes a page of figures that no pair keeps any more.
    ///
    /// - Returns: whether there may be more.
    static func purge(today: CivilDate, _ database: Database) async throws -> Bool {
        let first = CivilDate(daysSinceEpoch: today.daysSinceEpoch - days)
        return try await database.write(purge, [.date(first), .integer(page)]).count == page
    }

    private static let page: Int64 = 1000
    private static let select: Statement = """
        SELECT person_id = $1 AS is_own, figure, made_on FROM compatibility_looks
        WHERE questionnaire = $3 AND made_on > $4
            AND (person_id = $1 AND other_id = $2 OR person_id = $2 AND other_id = $1)
        """
    private static let count: Statement = """
        SELECT count(*) AS count FROM compatibility_looks WHERE person_id = $1 AND looked_on = $2
        """
    private static let insert: Statement = """
        INSERT INTO compatibility_looks (person_id, questionnaire, other_id, figure, made_on, looked_on)
        SELECT $1, $2, person_id, $4, $5, $6
        FROM (SELECT person_id FROM profiles WHERE person_id = $3 FOR KEY SHARE) AS other
        ON CONFLICT (person_id, questionnaire, other_id) DO UPDATE SET figure = excluded.figure,
            made_on = excluded.made_on, looked_on = excluded.looked_on
        RETURNING other_id
        """
    private static let purge: Statement = """
        WITH old AS MATERIALIZED (
            SELECT person_id, questionnaire, other_id FROM compatibility_looks WHERE made_on <= $1
            LIMIT $2 FOR UPDATE SKIP LOCKED)
        DELETE FROM compatibility_looks AS looks USING old
        WHERE (looks.person_id, looks.questionnaire, looks.other_id)
            = (old.person_id, old.questionnaire, old.other_id)
        RETURNING looks.made_on
        """
}
