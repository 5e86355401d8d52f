import BusProtocol
import Database
import EventLoop

/// The number of pictures that verification promised to each side of a case, and until when the claimant needs no other
/// code.
@Loop enum PictureStore {
    struct Usage: Sendable {
        let all: Int64
        let today: Int64
        let untilTomorrow: Duration
    }

    /// Counts one more picture, and returns the counts with it. The case is locked already.
    static func count(_ side: CaseActor, of id: Identifier, in transaction: Transaction) async throws -> Usage {
        guard let row = try await transaction.query(count, [.uuid(id), .text(side.rawValue)]).first else {
            throw DatabaseError.aborted
        }
        return try usage(row)
    }

    /// The counts as they would be with one more picture; `nil` before the first one.
    static func usage(_ side: CaseActor, of id: Identifier, in database: Database) async throws -> Usage? {
        try await database.read(next, [.uuid(id), .text(side.rawValue)]).first.map { try usage($0) }
    }

    private static func usage(_ row: Row) throws -> Usage {
        Usage(
            all: try row.integer("uploads"), today: try row.integer("uploads_of_day"),
            untilTomorrow: .seconds(try row.integer("seconds")))
    }

    static func keepProof(until end: Timestamp, of id: Identifier, in transaction: Transaction) {
        transaction.send(
            "UPDATE cases SET proven_until = greatest(proven_until, $2) WHERE id = $1", [.uuid(id), .timestamp(end)])
    }

    private static let next: Statement = """
        SELECT uploads + 1 AS uploads, CASE WHEN day = today THEN uploads_of_day + 1 ELSE 1 END AS uploads_of_day,
            ceil(extract(epoch FROM (today + 1)::timestamp - clock_timestamp() AT TIME ZONE 'UTC'))::bigint AS seconds
        FROM pictures, (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS today) AS t
        WHERE case_id = $1 AND side = $2
        """
    private static let count: Statement = """
        INSERT INTO pictures AS p (case_id, side, uploads, day, uploads_of_day)
        VALUES ($1, $2, 1, (clock_timestamp() AT TIME ZONE 'UTC')::date, 1)
        ON CONFLICT (case_id, side) DO UPDATE SET uploads = p.uploads + 1, day = excluded.day,
            uploads_of_day = CASE WHEN p.day = excluded.day THEN p.uploads_of_day + 1 ELSE 1 END
        RETURNING uploads, uploads_of_day,
            ceil(extract(epoch FROM (day + 1)::timestamp - clock_timestamp() AT TIME ZONE 'UTC'))::bigint AS seconds
        """
}
