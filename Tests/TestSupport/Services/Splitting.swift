import EventLoop
import Foundation

extension ScratchDatabase {
    /// Splits a table of the schema as an operator does, with `deploy/partition-table.sql` and psql. Only the pauses
    /// between its tries for a lock are shorter.
    ///
    /// - Throws: ``ScratchCluster/Failure`` with the output of psql, if psql fails.
    package func split(_ table: String, into partitions: Int) async throws {
        let arguments = [
            "psql", "--no-psqlrc", "--dbname", owner, "-v", "table=\(schema).\(table)", "-v",
            "partitions=\(partitions)", "-v", "pause=0.05",
            "-f", SourceFolder.root.appending(path: "deploy/partition-table.sql").path,
        ]
        _ = try await Loop.offload { try ScratchCluster.run("/usr/bin/env", arguments) }
    }
}
