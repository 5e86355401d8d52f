import EventLoop

/// Compares the connections that all replicas together may open with the limit of the server.
///
/// A replica puts the size of its pool into the name that the server shows for its connections. So each replica can add
/// up all pools, and no setting has to name the number of replicas.
package struct ConnectionDemand: Sendable, Equatable {
    /// The sum of all pools.
    package let pools: Int64
    /// The most connections of ordinary roles: `max_connections` without those that are kept for superusers.
    package let most: Int64

    /// Whether the pools take more than four fifths. The rest is for migrations, backups, operators, and for connections of
    /// lost clients that the server has not noticed yet.
    package var isTooHigh: Bool { pools * 5 > most * 4 }

    /// Takes both figures.
    package init(pools: Int64, most: Int64) { (self.pools, self.most) = (pools, most) }

    /// Asks the server for both figures.
    ///
    /// - Throws: ``DatabaseError``.
    @Loop package init(_ database: Database) async throws {
        let row = try await database.read(Self.statement)[0]
        self.init(pools: try row.integer("pools"), most: try row.integer("most"))
    }

    /// The name of a replica's connections, with the size of its pool.
    package static func name(_ replica: String, poolSize: Int) -> String { "vestibule-\(replica)/\(poolSize)" }

    private static let statement: Statement = """
        SELECT coalesce(sum(substring(name FROM '/([0-9]{1,4})$')::bigint), 0)::bigint AS pools,
            current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint AS most
        FROM (SELECT DISTINCT application_name FROM pg_stat_activity) AS replicas (name)
        WHERE name LIKE 'vestibule-%/%'
        """
}
