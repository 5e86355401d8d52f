import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

/// The real service that answers a message, with its tables, its bus, and stand-ins for its peers.
@Loop protocol Provider: Sendable {
    var stage: ServiceStage { get }
    /// The tables whose rows the service will soon delete, beside the outbox.
    var work: [String] { get }
    /// The access token of an actor, if the provider or a stand-in knows it.
    func accessToken(of actor: Actor) -> String?
    /// Runs the body as soon as the service is ready, and stops everything afterwards.
    nonisolated static func run(_ body: @escaping @Loop @Sendable (Self) async throws -> Void) async throws
}

/// A request with its caller and options, for some state of its provider.
struct Asked<Message: BusRequest>: Sendable {
    var message: Message
    var caller: ServiceName
    var options: CallOptions

    /// - Parameters:
    ///   - person: the person for whom the request is made, in `session` and with this role.
    ///   - key: the idempotency key. A public POST always has one.
    init(
        _ message: Message, as caller: ServiceName = .gateway, for person: Identifier? = nil,
        in session: Identifier = Sample.session, role: Role = .user, key: String? = nil
    ) {
        self.message = message
        self.caller = caller
        options = CallOptions(
            timeout: .seconds(10), actor: person.map { Actor(userID: $0, sessionID: session, role: role) },
            clientAddress: "192.0.2.7", idempotencyKey: key)
    }
}

extension Provider {
    var work: [String] { [] }

    func accessToken(of actor: Actor) -> String? { nil }

    /// Sends a request with any body.
    func raw<Message: BusRequest>(
        _ asked: Asked<Message>, body: [UInt8], as caller: ServiceName? = nil
    ) async throws(BusError) -> RawReply {
        guard let bus = try? stage.asking(as: caller ?? asked.caller) else {
            throw BusError(.internalError, "There is no bus.")
        }
        var options = asked.options
        if let actor = options.actor { options.accessToken = accessToken(of: actor) }
        return try await bus.callRaw(
            type: Message.type, version: Message.version, rules: Message.rules, body: body, options)
    }

    /// Sends a request and checks the reply against its schema.
    @discardableResult
    func reply<Message: BusRequest>(to asked: Asked<Message>) async throws -> Message.Reply {
        let reply = try await raw(asked, body: try WireJSON.encode(asked.message))
        #expect(Message.Reply.schema.problems(in: try JSONDocument(reply.body).root) == [])
        return try WireJSON.decode(Message.Reply.self, from: reply.body)
    }

    /// A digest of all tables, once the outbox and ``work`` are empty.
    ///
    /// It leaves out columns and tables that show no effect. These are the time of a device's last use, its sealed push
    /// token, the revisions of sessions, the marks of keys and clocks, and audit anchors. A replica writes the marks
    /// and anchors at times of its own. Each time a service seals a token, the bytes differ.
    ///
    /// The tables are read only if the server has written something since the last digest.
    func tables() async throws -> String {
        let due =
            "SELECT count(*) FROM outbox WHERE destination NOT LIKE 'timer:%' OR due_at <= now()"
            + work.map { " UNION ALL SELECT count(*) FROM \($0)" }.joined()
        while try await stage.rows(due).contains(where: { $0 != "0" && $0 != "\n" }) {
            try await Loop.sleep(for: .milliseconds(5))
        }
        let written = try await stage.rows("SELECT pg_current_wal_insert_lsn()")
        if let last = lastDigest, last.database == stage.scratch.name, last.written == written { return last.digest }
        let digest = try await stage.rows(
            """
            SELECT md5(string_agg(tablename || CASE
                -- Most tables have no row. To plan a statement for each of them takes longer than to look.
                WHEN pg_relation_size(format('%I.%I', schemaname, tablename)::regclass) = 0 THEN ''
                ELSE query_to_xml(format(
                    'SELECT md5((to_jsonb(t) - %L::text[])::text) AS r FROM %I.%I t ORDER BY 1',
                    '{last_used_at,push_token_sealed,is_anchored' || CASE tablename WHEN 'sessions' THEN ',revision}' ELSE '}' END,
                    schemaname, tablename), true, true, '')::text
                END, '' ORDER BY tablename))
            FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('key_marks', 'clock_marks')
                AND tablename NOT LIKE 'audit_anchor%'
            """)
        lastDigest = (stage.scratch.name, written, digest)
        return digest
    }
}

/// The last digest of ``Provider/tables()``, with the end of the write-ahead log before it was made.
@Loop private var lastDigest: (database: String, written: String, digest: String)?
