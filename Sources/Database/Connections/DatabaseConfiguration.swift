import CPostgres
import Glibc

/// Where a service's tables are and how it reaches them.
public struct DatabaseConfiguration: Sendable {
    /// A libpq connection string or URI.
    public var connectionString: String
    public var schema: String
    /// The most connections; one of them is for reads only. They are opened when they are needed.
    public var poolSize: Int
    public var applicationName: String
    /// How long a request waits for a free connection.
    public var leaseTimeout = Duration.seconds(2)
    /// A connection that nobody used for so long is closed, but for one to spare.
    public var idleLimit = Duration.seconds(60)
    /// How long a server may owe an answer without a byte before its connection counts as lost; longer than the five
    /// seconds that it gives a statement.
    public var silenceLimit = Duration.seconds(8)

    public init(connectionString: String, schema: String, poolSize: Int = 4, applicationName: String = "vestibule") {
        self.connectionString = connectionString
        self.schema = schema
        self.poolSize = max(2, poolSize)
        self.applicationName = applicationName
    }

    /// The role that a connection string names; `nil` where it names none or is malformed.
    public static func role(in connectionString: String) -> String? { parameters(of: connectionString)["user"] }

    /// Whether whoever stands between could read along, or answer in the server's place: the way there is a network, and
    /// the server need not prove its name.
    public static func isOpenToTheNetwork(_ connectionString: String) -> Bool {
        let parameters = parameters(of: connectionString)
        // libpq takes from the environment what is not said.
        func parameter(_ name: String, _ variable: String) -> String? {
            parameters[name] ?? getenv(variable).map { String(cString: $0) }
        }
        let hosts = (parameter("host", "PGHOST") ?? "").split(separator: ",")
        // A folder is that of a socket; so is what libpq takes where no host is named.
        let isLocal =
            parameter("hostaddr", "PGHOSTADDR") == nil && hosts.allSatisfy { $0.hasPrefix("/") || $0.hasPrefix("@") }
        return !isLocal && parameter("sslmode", "PGSSLMODE") != "verify-full"
    }

    /// What a connection string says, by libpq's names; nothing of a malformed one.
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

    /// Connects, blocking: off the loop only.
    ///
    /// - Returns: the address of a `PGconn` that the caller owns, connected or not.
    static func connect(_ connectionString: String, schema: String, applicationName: String) -> UInt {
        // Every statement has an index for what it looks up. Queues are empty most of the time: a plan made then reads the
        // whole table, and is kept when the table is full. What costs too much only by that rule is not worth compiling.
        let options =
            "-c search_path=\(schema) -c statement_timeout=5000 -c lock_timeout=200 -c idle_in_transaction_session_timeout=10000 -c enable_seqscan=off -c jit=off"
        let parameters = [
            ("dbname", connectionString), ("options", options), ("connect_timeout", "5"), ("gssencmode", "disable"),
            ("application_name", applicationName), ("client_encoding", "UTF8"),
        ]
        var keywords = parameters.map { strdup($0.0) } + [nil]
        var values = parameters.map { strdup($0.1) } + [nil]
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
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        return UInt(bitPattern: connection)
    }
}
