import Foundation

/// The private PostgreSQL of a state folder. It listens on a socket only, and has a schema, an owner role and a runtime
/// role for each service.
struct PostgresServer {
    let state: StateFolder
    private let binaries: String
    private let data: String
    /// The server's own log.
    var log: String { "\(data)/server.log" }
    private var socketFolder: String { "\(state.sockets)/pg" }
    private var isRoot: Bool { getuid() == 0 }

    init(_ state: StateFolder) throws {
        self.state = state
        binaries = try Self.findBinaries()
        data = try Self.dataFolder(state)
    }

    /// The folder of the server's data. PostgreSQL does not run as root: if its user cannot reach the state folder, the
    /// data is under /var/lib.
    private static func dataFolder(_ state: StateFolder) throws -> String {
        let inside = "\(state.path)/postgres"
        guard getuid() == 0 else { return inside }
        if (try? Subprocess.run(["runuser", "-u", "postgres", "--", "test", "-x", state.path])) != nil {
            return inside
        }
        let name = "\(URL(filePath: state.sockets).lastPathComponent)-postgres"
        // Releases before December 2026 made it here, where some systems remove old files.
        let former = "/var/tmp/\(name)"
        return FileManager.default.fileExists(atPath: former) ? former : "/var/lib/\(name)"
    }

    private static func findBinaries() throws -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let fit = versions.compactMap { Int($0) }.filter { $0 >= 15 }.sorted(by: >)
        for version in fit where access("/usr/lib/postgresql/\(version)/bin/initdb", X_OK) == 0 {
            return "/usr/lib/postgresql/\(version)/bin"
        }
        throw CommandError.unavailable(
            "no PostgreSQL server of version 15 or newer: install the package postgresql, or run make up to install it")
    }

    /// The connection string of a role.
    func url(_ role: String) throws -> String {
        "host=\(socketFolder) dbname=vestibule user=\(role) password=\(try state.password(role))"
    }

    var superuser: String { "host=\(socketFolder) dbname=postgres user=postgres" }

    /// Starts the server, and creates missing roles and schemas. It first stops a server that a killed `vestibule up`
    /// left running.
    ///
    /// - Parameter seconds: how long to wait until the server answers. After a crash, a large database takes minutes.
    /// - Throws: ``CommandError`` that names the missing part if the data is incomplete.
    func start(within seconds: Int = 600) throws {
        try ownFolder(socketFolder, mode: 0o755)
        try StateFolder.refuseForeign(state.sockets)
        guard isThere else { throw missing("\(data)/PG_VERSION") }
        if isRunning { try stop() }
        do {
            try asServer("pg_ctl", ["-D", data, "-o", options, "-l", log, "-w", "-t", "\(seconds)", "start"])
        } catch {
            throw CommandError.unavailable("PostgreSQL did not start: see \(log)")
        }
        try provision()
    }

    private var options: String {
        // By default the server's log would show keys and parameters of failed statements.
        "-k \(socketFolder) -c listen_addresses='' -c max_connections=200 -c log_error_verbosity=terse "
            + "-c log_parameter_max_length=0 -c log_parameter_max_length_on_error=0 -c log_min_error_statement=panic"
    }

    private func ownFolder(_ folder: String, mode: Int) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        chmod(folder, mode_t(mode))
        if isRoot { try Subprocess.run(["chown", "postgres:postgres", folder]) }
    }

    private var isThere: Bool { FileManager.default.fileExists(atPath: "\(data)/PG_VERSION") }

    private func missing(_ what: String) -> CommandError {
        .unavailable(
            "the data are not there as a whole: \(what) is missing. Put the state folder back from a backup "
                + "(docs/operations/restore.md), or start an empty system from another one with --state")
    }

    /// Creates the server's data in a new state folder. It does nothing if the folder has data or has had data.
    func createWhereNew() throws {
        if !isThere, !StateFolder.services.contains(where: state.hasData) { try create() }
    }

    /// Creates the data in a folder of another name and renames it when it is complete. An interrupted attempt stays
    /// beside it.
    private func create() throws {
        let made = data
        let data = "\(made).\(UUID().uuidString)"
        try ownFolder(data, mode: 0o700)
        // Synchronize the file system once, at the end. Synchronizing a thousand files one after the other takes
        // seconds.
        try asServer(
            "initdb", ["-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--auth=peer", "--no-sync"])
        // The user that owns the server may connect as the superuser. Everybody else needs a password.
        let rules = """
            local all postgres peer map=owner
            local all all scram-sha-256

            """
        let user = isRoot ? "postgres" : NSUserName()
        try place(rules, in: "\(data)/pg_hba.conf")
        try place("owner \(user) postgres\n", in: "\(data)/pg_ident.conf")
        try asServer("postgres", ["--single", "-F", "-D", data, "postgres"], input: "CREATE DATABASE vestibule\n")
        try Subprocess.run(["sync", "--file-system", data])
        guard rename(data, made) == 0 else { throw CommandError("\(made) cannot be made", code: 73) }
    }

    private func place(_ text: String, in file: String) throws {
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        if isRoot { try Subprocess.run(["chown", "postgres:postgres", file]) }
    }

    private func provision() throws {
        var sql = "REVOKE ALL ON DATABASE vestibule FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC;"
        for service in StateFolder.services {
            let runtime = service.schemaName
            let owner = "\(runtime)_owner"
            for role in [owner, runtime] {
                sql += """
                    DO $$ BEGIN
                        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(role)') THEN CREATE ROLE \(role); END IF;
                    END $$;
                    ALTER ROLE \(role) LOGIN NOINHERIT PASSWORD '\(try state.password(role))';
                    GRANT CONNECT ON DATABASE vestibule TO \(role);
                    """
            }
            sql += "CREATE SCHEMA IF NOT EXISTS \(runtime) AUTHORIZATION \(owner);"
            sql += "GRANT CREATE ON DATABASE vestibule TO \(owner);"
        }
        sql += "SELECT schemaname FROM pg_tables WHERE tablename = 'schema_migrations'"
        let answer = Result { try query("vestibule", sql) }
        if case .failure = answer {
            let exists = try query("postgres", "SELECT 1 FROM pg_database WHERE datname = 'vestibule'")
            guard !exists.isEmpty else { throw missing("the database vestibule") }
        }
        let schemas = try answer.get().split(separator: "\n")
        let lost = StateFolder.services.filter(state.hasData).filter { !schemas.contains($0.schemaName[...]) }
        guard lost.isEmpty else { throw missing("every table of \(lost.joined(separator: ", "))") }
    }

    @discardableResult
    func query(_ database: String, _ sql: String) throws -> String {
        // Every user of the machine can read the arguments of a command, so the passwords go through standard input.
        try asServer(
            "psql", ["-h", socketFolder, "-U", "postgres", "-d", database, "-v", "ON_ERROR_STOP=1", "-qAt"], input: sql)
    }

    /// Whether the server's process runs.
    var isRunning: Bool { process != nil }

    /// The process id from the server's pid file; `nil` if it does not run.
    var process: pid_t? {
        guard let text = try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8),
            let process = text.split(separator: "\n").first.flatMap({ pid_t($0) })
        else { return nil }
        // After a crash, another program may have the number.
        return (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) == "postgres\n" ? process : nil
    }

    /// Stops the server, which closes open connections.
    ///
    /// - Throws: ``CommandError`` if it still runs.
    func stop() throws {
        let failure = Result { try asServer("pg_ctl", ["-D", data, "-m", "fast", "-w", "stop"]) }
        if isRunning { _ = try failure.get() }
    }

    @discardableResult
    private func asServer(_ program: String, _ arguments: [String], input: String? = nil) throws -> String {
        let command = ["\(binaries)/\(program)"] + arguments
        return try Subprocess.run(isRoot ? ["runuser", "-u", "postgres", "--"] + command : command, input: input)
    }
}
