import CPostgres
import Glibc

/// Where a service's tables are, and how to reach them.
package struct DatabaseConfiguration: Sendable {
    /// A libpq connection string or URI.
    package var connectionString: String
    /// Hosts in place of those in the connection string, for reads that a standby may answer; `nil` for the hosts in
    /// the string. If there are several, a standby is preferred to the primary.
    package var standbys: String?
    /// The schema of the service's tables.
    package var schema: String
    /// The most connections. One of them is for reads only. They are opened when needed.
    package var poolSize: Int
    /// The name that the server shows for the connections.
    package var applicationName: String
    /// How long a request waits for a free connection.
    package var leaseTimeout = Duration.seconds(2)
    /// A connection that is idle for this long is closed, except one spare connection.
    package var idleLimit = Duration.seconds(60)
    /// How long an answer may be pending without a byte before the connection counts as lost. It is longer than the
    /// five seconds that the server allows a statement.
    package var silenceLimit = Duration.seconds(8)

    /// Takes the connection string and the schema. All other values have defaults.
    package init(connectionString: String, schema: String, poolSize: Int = 4, applicationName: String = "vestibule") {
        self.connectionString = connectionString
        self.schema = schema
        self.poolSize = max(2, poolSize)
        self.applicationName = applicationName
    }

    /// The role in a connection string; `nil` if it names none or is malformed.
    package static func role(in connectionString: String) -> String? { parameters(of: connectionString)["user"] }

    /// Whether an attacker on the network could read the traffic or impersonate the server. An attacker can if the
    /// connection uses a network and the server need not prove its identity.
    ///
    /// - Parameter standbys: as ``standbys``.
    package static func isOpenToTheNetwork(_ connectionString: String, standbys: String? = nil) -> Bool {
        let parameters = parameters(of: connectionString)
        // libpq reads missing settings from the environment.
        func parameter(_ name: String, _ variable: String) -> String? {
            parameters[name] ?? getenv(variable).map { String(cString: $0) }
        }
        let hosts = (standbys ?? parameter("host", "PGHOST") ?? "").split(separator: ",")
        // A folder means a Unix socket. libpq's default without a host is a Unix socket too.
        let isLocal =
            parameter("hostaddr", "PGHOSTADDR") == nil && hosts.allSatisfy { $0.hasPrefix("/") || $0.hasPrefix("@") }
        return !isLocal && parameter("sslmode", "PGSSLMODE") != "verify-full"
    }

    /// The settings in a connection string, by libpq's names; empty if it is malformed.
    private static func parameters(of connectionString: String) -> [String: String] {
        guard let options = PQconninfoParse(connectionString, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var (parameters, option) = ([String: String](), options)
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parameters
    }

    /// Whether a connection string has an address (`hostaddr`). libpq would use that address instead of the host.
    package static func hasAddress(_ connectionString: String) -> Bool {
        parameters(of: connectionString)["hostaddr"] != nil || getenv("PGHOSTADDR") != nil
    }

    /// How many hosts a connection string names. libpq tries them in order.
    static func hosts(in connectionString: String) -> Int {
        let parameters = parameters(of: connectionString)
        return (parameters["host"] ?? parameters["hostaddr"] ?? "").split(separator: ",").count
    }

    /// Connects. With several hosts, it connects to the first one that takes writes. It blocks, so it must run off the
    /// loop.
    ///
    /// - Parameter standbys: as ``standbys``.
    /// - Returns: the address of a `PGconn`, connected or not. The caller owns it.
    static func connect(
        _ connectionString: String, standbys: String? = nil, schema: String, applicationName: String
    ) -> UInt {
        // Each connection plans a statement once, for all values. Otherwise PostgreSQL plans a statement with `= ANY ($1)`
        // at each execution, and that takes longer than most executions. So a statement must find its index without its
        // values. A page says `id > $1`, with the least value for the first page, and never `$1 IS NULL OR id > $1`.
        //
        // Sequential scans are off because every statement has an index for its look-up. Queues are mostly empty. A
        // plan made for an empty queue would scan the whole table, and PostgreSQL would keep the plan when the table is
        // full.
        //
        // JIT compilation is off because that setting makes some cheap statements look expensive.
        let options =
            "-c search_path=\(schema) -c statement_timeout=5000 -c lock_timeout=200 -c idle_in_transaction_session_timeout=10000 -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off"
        let isOneOfMany = (standbys?.split(separator: ",").count ?? hosts(in: connectionString)) > 1
        let parameters = [
            // The parameters before the connection string are defaults, which the string may override.
            //
            // Of several hosts, only the primary takes writes. A dead host must not hold up the attempt for long: three
            // dead hosts and the silence limit still end within 15 seconds. The kernel would keep a connection to a
            // host that has vanished for two hours, and its unconfirmed bytes for a quarter of an hour.
            ("target_session_attrs", isOneOfMany ? "read-write" : "any"), ("connect_timeout", isOneOfMany ? "2" : "5"),
            ("tcp_user_timeout", "5000"), ("keepalives_idle", "2"), ("keepalives_interval", "1"),
            ("keepalives_count", "3"),
            ("dbname", connectionString), ("options", options), ("gssencmode", "disable"),
            ("application_name", applicationName), ("client_encoding", "UTF8"),
        ]
        let kind = isOneOfMany ? "prefer-standby" : "any"
        let overrides = standbys.map { [("host", $0), ("target_session_attrs", kind)] } ?? []
        var keywords = (parameters + overrides).map { strdup($0.0) } + [nil]
        var values = (parameters + overrides).map { strdup($0.1) } + [nil]
        defer { for pointer in keywords + values { free(pointer) } }
        let connection = keywords.withUnsafeMutableBufferPointer { keywords in
            values.withUnsafeMutableBufferPointer { values in
                keywords.baseAddress!.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: keywords.count) {
                    keywords in
                    values.baseAddress!.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: values.count) {
                        PQconnectdbParams(keywords, $0, 1)
                    }
                }
            }
        }
        // Without this, libpq would print the server's notices until `Connection` listens to them.
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        return UInt(bitPattern: connection)
    }
}
