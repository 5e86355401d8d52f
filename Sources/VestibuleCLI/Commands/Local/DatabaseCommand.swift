import JSONText

/// `vestibule database`: lists active database sessions, how long they run, and which session blocks another.
enum DatabaseCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"])
        let postgres = try PostgresServer(try StateFolder(arguments["--state"], create: false))
        guard postgres.isRunning else {
            throw CommandError.unavailable("PostgreSQL is not running: see vestibule status, and \(postgres.log)")
        }
        let sessions = try JSONValue.parse(Array(try postgres.query("vestibule", sql).utf8))
        if arguments.has("--json") {
            return say(String(decoding: CanonicalJSON.bytes(of: sessions), as: UTF8.self))
        }
        let rows = (sessions.arrayValue ?? []).map { session in columns.map { text(session[$0]) } }
        say(rows.isEmpty ? "There are no active database sessions." : TextTable.text(of: [columns] + rows))
    }

    private static let columns = ["pid", "service", "state", "seconds", "waits for", "blocked by", "statement"]

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        default: ""
        }
    }

    /// Our statements have placeholders for values, so the output has no personal data.
    private static let sql = """
        SELECT coalesce(json_agg(row_to_json(s)), '[]') FROM (
            SELECT a.pid, a.application_name AS service, a.state,
                round(extract(epoch FROM clock_timestamp() - coalesce(
                    CASE WHEN a.state = 'active' THEN a.query_start ELSE a.xact_start END, a.query_start)), 1) AS seconds,
                concat_ws(' ', a.wait_event_type, a.wait_event) AS "waits for",
                array_to_string(pg_blocking_pids(a.pid), ', ') AS "blocked by",
                left(regexp_replace(a.query, '\\s+', ' ', 'g'), 100) AS statement
            FROM pg_stat_activity a
            WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid() AND a.state <> 'idle'
            ORDER BY coalesce(a.xact_start, a.query_start) LIMIT 30) s
        """
}
