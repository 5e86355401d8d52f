import CPostgres
import EventLoop
import Foundation
import Synchronization

/// A private PostgreSQL server for one test process, on a socket in a temporary folder. The server and its folder are
/// removed when the process ends.
package final class ScratchCluster: Sendable {
    package let folder: String
    private let binaries: String

    package struct Failure: Error, CustomStringConvertible { public let description: String }

    /// The shared server, started at first use.
    package static let shared = Result { () throws -> ScratchCluster in
        sweep()
        return try ScratchCluster("")
    }

    /// - Parameter suffix: a suffix of the folder, for tests that stop and start their own server. They call
    ///   ``destroy()`` at the end.
    package init(_ suffix: String) throws {
        (folder, binaries) = (try Self.newFolder(suffix), try Self.findBinaries())
        try asServer(
            "initdb", ["-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"])
        try start()
        try query("postgres", "CREATE ROLE scratch_owner LOGIN CREATEROLE; CREATE ROLE scratch_runtime LOGIN")
        atexit { if case .success(let cluster) = ScratchCluster.shared { cluster.destroy() } }
    }

    /// Makes a standby of a server, which follows that server until it is stopped or promoted. It is not synchronous.
    package init(_ suffix: String, following primary: ScratchCluster) throws {
        (folder, binaries) = (try Self.newFolder(suffix), try Self.findBinaries())
        try asServer(
            "pg_basebackup",
            [
                "-h", primary.folder, "-U", "postgres", "-D", data, "--write-recovery-conf", "--checkpoint=fast",
                "--no-sync",
            ])
        try start()
    }

    private static func newFolder(_ suffix: String) throws -> String {
        let folder = "\(ScratchFolder.roomy)/\(prefix)\(getpid())\(suffix)"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try run("/bin/chown", ["postgres", folder]) }
        return folder
    }

    private var data: String { "\(folder)/data" }

    /// Starts the server and waits until it answers. `VESTIBULE_SERVER_OPTIONS` adds options of `postgres`.
    package func start() throws {
        // Each test leaves a database, and autovacuum would visit all of them, ten a second.
        let options =
            "-k \(folder) -c listen_addresses='' -c fsync=off -c full_page_writes=off -c autovacuum=off -c timezone=UTC -c max_connections=300 -c log_min_messages=panic -c shared_buffers=64MB -c max_wal_size=64MB -c min_wal_size=32MB"
        let more = ProcessInfo.processInfo.environment["VESTIBULE_SERVER_OPTIONS"].map { " \($0)" } ?? ""
        try asServer("pg_ctl", ["-D", data, "-o", options + more, "-l", "\(folder)/log", "-w", "start"])
    }

    /// - Parameter mode: `fast` ends the sessions, `immediate` acts like a crash.
    package func stop(_ mode: String) throws { try asServer("pg_ctl", ["-D", data, "-m", mode, "-w", "stop"]) }

    /// Stops the server as ``stop(_:)`` does, and starts it again.
    package func restart(_ mode: String) throws {
        try stop(mode)
        try start()
    }

    /// Waits until this standby has everything that its primary has written so far.
    package func waitForAll(of primary: ScratchCluster) throws {
        let end = try primary.query("postgres", "SELECT pg_current_wal_lsn()")
        while try query("postgres", "SELECT pg_last_wal_replay_lsn() >= '\(end)'") != "t" { usleep(2_000) }
    }

    /// Makes this standby a primary, on a timeline of its own.
    package func promote() throws { try asServer("pg_ctl", ["-D", data, "-w", "promote"]) }

    /// Writes a schema to a file with `pg_dump`, for ``restore(_:in:)``.
    package func dump(_ schema: String, in database: String) throws {
        let options = ["-h", folder, "-U", "postgres", "-n", schema, "-F", "custom"]
        try asServer("pg_dump", options + ["-f", file(of: database), database])
    }

    /// Replaces a schema with the dumped one.
    package func restore(_ schema: String, in database: String) throws {
        try query(database, "DROP SCHEMA \(schema) CASCADE")
        try asServer("pg_restore", ["-h", folder, "-U", "postgres", "-d", database, "-e", file(of: database)])
    }

    private func file(of database: String) -> String { "\(folder)/\(database).dump" }

    package func destroy() {
        try? asServer("pg_ctl", ["-D", data, "-m", "immediate", "stop"])
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Runs SQL as the superuser.
    ///
    /// - Parameter isLast: whether this is the last query of the database, such as one that becomes a template.
    /// - Returns: the rows of the last statement, a line each, with `|` between the columns.
    @discardableResult
    package func query(_ database: String, _ sql: String, isLast: Bool = false) throws -> String {
        let connection = connect(database)
        let result = PQexec(connection, sql)
        defer {
            PQclear(result)
            if isLast { PQfinish(connection) } else { keep(connection, database) }
        }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK: return ""
        case PGRES_TUPLES_OK:
            let rows = (0..<PQntuples(result)).map { row in
                (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }.joined(separator: "|")
            }
            return rows.joined(separator: "\n")
        default: throw Failure(description: "\(sql): \(String(cString: PQerrorMessage(connection)))")
        }
    }

    /// The connections of the last query to `postgres`, which creates and drops databases, and of the last query to
    /// another database. They are kept, since the server starts a process with empty caches for a new connection.
    private let kept = Mutex<[Bool: Connection]>([:])
    private static let server = "postgres"

    /// Only one thread uses a connection at a time. A thread that takes it removes it for all others.
    private struct Connection: @unchecked Sendable {
        let database: String
        let raw: OpaquePointer?
    }

    private func connect(_ database: String) -> OpaquePointer? {
        if let last = kept.withLock({ $0.removeValue(forKey: database == Self.server) }) {
            // Input without a query means that the server has closed the connection.
            var socket = pollfd(fd: PQsocket(last.raw), events: Int16(POLLIN), revents: 0)
            if last.database == database, poll(&socket, 1, 0) == 0 { return last.raw }
            PQfinish(last.raw)
        }
        return PQconnectdb("host=\(folder) user=postgres dbname=\(database)")
    }

    private func keep(_ raw: OpaquePointer?, _ database: String) {
        // Removes all settings and locks of the previous use.
        let result = PQexec(raw, "DISCARD ALL")
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { return PQfinish(raw) }
        let connection = Connection(database: database, raw: raw)
        PQfinish(kept.withLock { $0.updateValue(connection, forKey: database == Self.server) }?.raw)
    }

    private func asServer(_ program: String, _ arguments: [String]) throws {
        if getuid() == 0 {
            try Self.run("/usr/sbin/runuser", ["-u", "postgres", "--", "\(binaries)/\(program)"] + arguments)
        } else {
            try Self.run("\(binaries)/\(program)", arguments)
        }
    }

    private static func findBinaries() throws -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = versions.compactMap { Int($0) }.max()
        guard let newest else { throw Failure(description: "no PostgreSQL server: install the package postgresql") }
        return "/usr/lib/postgresql/\(newest)/bin"
    }

    /// The prefix of cluster folders, before the process ID. No other folder may have it, because the sweep removes
    /// them.
    private static let prefix = "vestibule-cluster-"

    /// Removes the clusters of processes that were killed.
    private static func sweep() {
        let place = ScratchFolder.roomy
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
            guard name.hasPrefix(prefix),
                let process = Int32(name.dropFirst(prefix.count).prefix { $0.isNumber }), kill(process, 0) != 0
            else { continue }
            if let text = try? String(contentsOfFile: "\(place)/\(name)/data/postmaster.pid", encoding: .utf8),
                let server = text.split(separator: "\n").first.flatMap({ Int32($0) })
            {
                kill(server, SIGQUIT)
            }
            try? FileManager.default.removeItem(atPath: "\(place)/\(name)")
        }
    }

    /// It does not use Foundation's `Process`, which waits for every process that inherited its pipes. The server is
    /// such a process.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let output = "/tmp/vestibule-out-\(UUID())"
        defer { unlink(output) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var process: pid_t = 0
        // The server's user may not enter the folder of the tests.
        var words = (["/usr/bin/env", "-C", "/", program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        guard posix_spawn(&process, "/usr/bin/env", &actions, nil, &words, environ) == 0 else {
            throw Failure(description: "\(program) cannot be started")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        guard status == 0 else { throw Failure(description: "\(program) \(arguments.first ?? ""): \(text)") }
        return text
    }
}
