import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import AuthService
@testable import Gateway
@testable import ProfileService
@testable import QuestionnaireService
@testable import RecoveryService
@testable import VerificationService
@testable import VisualPreferenceService

/// The services and a gateway in one process, with one database as in a deployment, over one bus.
@Loop final class TestSystem {
    nonisolated static let definitions = [
        AuthServiceDefinition.definition, ProfileServiceDefinition.definition,
        QuestionnaireServiceDefinition.definition, RecoveryServiceDefinition.definition,
        VisualPreferenceServiceDefinition.definition, VerificationServiceDefinition.definition,
    ]

    private(set) var databases: [ServiceName: ScratchDatabase] = [:]
    private var containers: [ServiceName: ServiceContainer] = [:]
    private var environments: [ServiceName: [String: String]] = [:]
    private let folder: ScratchFolder
    private let keys: BusKeys
    private var voices: [Bus] = []
    private let spool: Spool
    let gateway: GatewayServer

    /// - Parameter elsewhere: the connection strings of services with another database.
    nonisolated static func run(
        elsewhere: [ServiceName: String] = [:], _ body: @escaping @Loop @Sendable (TestSystem) async throws -> Void
    ) async throws {
        let test = Loop.spawn {
            let system = try await TestSystem(elsewhere)
            do {
                try await system.open()
                try await body(system)
            } catch {
                await system.close()
                throw error
            }
            await system.close()
        }
        try await test.value
    }

    private init(_ elsewhere: [ServiceName: String]) async throws {
        (folder, spool) = (try ScratchFolder(), try Spool())
        keys = try BusKeys(in: folder.path)
        var bus = BusConfiguration(service: .gateway)
        bus.security = try keys.security(of: .gateway)
        bus.discoveryInterval = .milliseconds(20)
        let all = try await ScratchDatabase.make(Self.definitions.map { ($0.name.identifier, $0.migrations) })
        for definition in Self.definitions {
            let (name, prefix) = (definition.name, definition.prefix)
            let scratch = ScratchDatabase(schema: name.identifier, beside: all)
            databases[name] = scratch
            bus.peers[name] = try Discovery("ipc:\(folder.path)")
            var environment = [
                "VESTIBULE_PROFILE": "development", "BUS_BIND": "ipc:\(folder.path)", "BUS_KEY": keys.secret(of: name),
                "BUS_ALLOWED": keys.list,
                "\(prefix)DATABASE_URL": elsewhere[name] ?? scratch.runtime,
                "\(prefix)KEYS": KeyRing.generate(id: "test"),
                "AUDIT_ANCHOR_FOLDER": folder.path, "SPOOL_DIR": spool.folder,
            ]
            if name == .verification {
                environment["VERIFICATION_HTTP"] = "127.0.0.1:0"
                environment["VERIFICATION_BLOBS"] = folder.path + "/pictures"
                environment["VERIFICATION_KEY_STORE"] = folder.path + "/picture-keys"
            }
            for peer in definition.peers { environment["BUS_\(peer.identifier.uppercased())"] = "ipc:\(folder.path)" }
            environments[name] = environment
        }
        var configuration = GatewayConfiguration()
        configuration.port = 0
        gateway = GatewayServer(configuration, bus: Bus(bus))
    }

    private func open() async throws {
        for definition in Self.definitions { try await start(definition.name) }
        try gateway.bus.start()
        try gateway.start()
        try #require(try await eventually { try await send("GET", "/readyz").status == 200 })
        while try await rows(.questionnaire, "SELECT count(*) FROM definitions")
            != String(QuestionnaireServiceDefinition.definitions.count)
        {
            try await Loop.sleep(for: .milliseconds(10))
        }
    }

    private func close() async {
        await gateway.drain()
        gateway.bus.stop()
        for bus in voices { bus.stop() }
        for name in containers.keys { await stop(name) }
        spool.remove()
    }

    func start(_ service: ServiceName) async throws {
        guard let definition = Self.definitions.first(where: { $0.name == service }) else { return }
        let container = try ServiceContainer(definition, environment: environments[service] ?? [:]) { _ in }
        containers[service] = container
        try await container.start()
    }

    func stop(_ service: ServiceName) async {
        await containers.removeValue(forKey: service)?.stop(notice: .zero)
    }

    /// Makes a service's background tasks run at once.
    func hurry(_ service: ServiceName) { containers[service]?.hurry() }

    /// The number of files of pictures and of their keys.
    var pictureFiles: Int {
        let all = FileManager.default.enumerator(atPath: "\(folder.path)/pictures")?.compactMap { $0 as? String } ?? []
        return all.count { $0.split(separator: "/").last?.count == 36 }
    }

    /// A connection to the bus in a service's name.
    func voice(of service: ServiceName) throws -> Bus {
        var configuration = BusConfiguration(service: service)
        // On a busy machine, finding a new replica takes a while.
        configuration.grace = .seconds(10)
        for name in databases.keys { configuration.peers[name] = try Discovery("ipc:\(folder.path)") }
        configuration.security = try keys.security(of: service)
        let bus = Bus(configuration)
        voices.append(bus)
        try bus.start()
        return bus
    }

    @discardableResult
    func rows(_ service: ServiceName, _ sql: String) async throws -> String {
        try await databases[service]?.query(sql) ?? ""
    }

    // MARK: What people do

    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, as session: Session? = nil,
        headers: [String: String] = [:]
    ) async throws -> Exchange {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let session { head += "Authorization: Bearer \(session.accessToken)\r\n" }
        let text = body.map { String(decoding: CanonicalJSON.bytes(of: $0), as: UTF8.self) }
        if let text { head += "Content-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n" }
        return try await Exchange(port: gateway.boundPort, request: head + "\r\n" + (text ?? ""))
    }

    /// Publishes a questionnaire in addition to the shipped one.
    func publish(_ definition: JSONValue) async throws {
        guard let database = containers[.questionnaire]?.database else { return }
        let read = try DefinitionParser.parse(CanonicalJSON.bytes(of: definition))
        _ = try await DefinitionImport(database: database, definition: read).run()
    }

    func ask<Request: BusRequest>(
        _ request: Request, as session: Session? = nil, role: Role = .user
    ) async throws -> Request.Reply {
        let actor = session.map { Actor(userID: $0.user.id, sessionID: $0.sessionId, role: role) }
        var options = CallOptions(
            timeout: .seconds(10), actor: actor, clientAddress: "192.0.2.7",
            idempotencyKey: "key-\(Identifier.random())")
        options.accessToken = session?.accessToken
        return try await patiently { [options] in try await gateway.bus.call(request, options) }
    }

    /// Signs in a member of staff.
    func staff(_ phone: String) async throws -> Session {
        let person = try await signIn(phone).user.id
        try await rows(.auth, "UPDATE accounts SET role = 'staff' WHERE id = '\(person)'")
        try await age()
        return try await signIn(phone)
    }

    /// The push messages that were sent so far.
    func pushes() -> [JSONValue] { spool.pushes() }

    func code(for phone: String, purpose: String? = nil) async throws -> (challenge: Identifier, code: String) {
        let known = spool.codes(for: phone).count
        let sent = try await ask(SendOTP(phone: phone, purpose: purpose))
        return (sent.challengeId, try await spool.code(for: phone, after: known))
    }

    func signIn(_ phone: String) async throws -> Session {
        let (challenge, code) = try await code(for: phone)
        let device = DeviceClaim(name: "Pixel 9", platform: "android", pushToken: "fcm:\(challenge)")
        return try await ask(VerifyOTP(challengeId: challenge, code: code, device: device))
    }

    /// Acts as if auth had sent no code for a while.
    func age() async throws {
        try await rows(
            .auth,
            "UPDATE challenges SET created_at = created_at - interval '2 hours', expires_at = expires_at - interval '2 hours'"
        )
    }

    /// A person whom every service knows: with a profile, answers, two sessions, and a disputed claim of the account.
    func onboarded(_ phone: String) async throws -> Session {
        _ = try await signIn(phone)
        try await age()
        let session = try await signIn(phone)
        _ = try await ask(
            UpdateMe(fields: ["displayName": "Zoë", "dateOfBirth": "1994-02-28", "bio": "Fika är livet"]), as: session)
        _ = try await ask(UpdateMe(fields: ["bio": "Te är livet"]), as: session)
        _ = try await ask(
            SubmitResponses(answers: QuestionnaireProvider.required, complete: true), as: session)
        _ = try await ask(GetVisualSession(), as: session)
        let (challenge, code) = try await code(for: "+14155559999", purpose: "recovery")
        let claim = RequestRecovery(
            accountPhone: phone, challengeId: challenge, code: code, device: Sample.phone)
        let requested = try await ask(claim)
        _ = try await ask(DisputeRecovery(recoveryId: requested.recoveryId), as: session)
        let isFree = "SELECT count(*) FROM freezes WHERE ended_at IS NULL"
        try #require(try await eventually { try await rows(.auth, isFree) == "0" })
        while try await rows(.profile, "SELECT count(questionnaire_completed_at) FROM profiles") == "0" {
            try await Loop.sleep(for: .milliseconds(10))
        }
        try await quiet()
        return session
    }

    /// Inserts a row into each described table in which an onboarded person has none. It also creates a table in each
    /// service that no section describes.
    func plantTheRest(of session: Session) async throws {
        guard let auth = containers[.auth], let profile = containers[.profile] else { return }
        let (person, secrets) = (session.user.id, Secrets(auth.keys))
        let identity = ProvenIdentity(
            provider: .google, issuer: "https://issuer.test", subject: "subject-1", audience: "app", email: nil)
        let hex = { (bytes: [UInt8]) in "decode('\(Hex.encode(bytes))', 'hex')" }
        let note = hex(secrets.noteSealer.seal(Array("They wrote.".utf8), associated: person.array))
        let profileNotes = Sealer(profile.keys, purpose: "staff-note")
        let profileNote = hex(profileNotes.seal(Array("They wrote.".utf8), associated: person.array))
        try await rows(
            .auth,
            """
            INSERT INTO identities (hash, key_id, person_id, provider, sealed)
                VALUES (\(hex(secrets.hash(of: identity))), 'k', '\(person)', 'google', \(hex(try secrets.seal(identity))));
            INSERT INTO phone_aliases (person_id, hash, key_id, sealed, until)
                SELECT person_id, sha256('number'), 'k', sealed, now() + interval '90 days' FROM phones;
            INSERT INTO emails (person_id, hash, key_id, sealed) VALUES ('\(person)', sha256('address'), 'k',
                \(hex(secrets.emails.seal(Array("anna@example.com".utf8), for: person))));
            INSERT INTO replaced_push_tokens (id, person_id, device_id, sealed)
                SELECT gen_random_uuid(), person_id, id, '' FROM devices;
            INSERT INTO role_proposals (person_id, is_granted, operator_name, until)
                VALUES ('\(person)', true, 'anna', now() + interval '1 day');
            INSERT INTO staff_notes (id, person_id, act, staff, note_sealed)
                VALUES (gen_random_uuid(), '\(person)', 'account_suspended', 'p1', \(note))
            """)
        try await rows(
            .profile,
            """
            INSERT INTO waitlist VALUES ('\(person)');
            INSERT INTO staff_notes (id, person_id, act, staff, note_sealed)
                VALUES (gen_random_uuid(), '\(person)', 'date_of_birth_corrected', 'p1', \(profileNote))
            """)
        try await rows(
            .questionnaire,
            """
            INSERT INTO mutations (person_id, session_id, mutation_id, digest, question, revision)
                SELECT person_id, session_id, gen_random_uuid(), '', 'pets', 1 FROM sessions;
            INSERT INTO subjects (person_id, session_id, subject, kind, position, added_at)
                SELECT person_id, session_id, gen_random_uuid(), 'child', 1, now() FROM sessions;
            INSERT INTO session_migrations
                (person_id, session_id, number, from_version, from_hash, to_version, before, migrated_at)
                SELECT person_id, session_id, 1, 1, '', 2, '{}', now() FROM sessions
            """)
        try await rows(.recovery, "INSERT INTO locks (person_id) VALUES ('\(person)')")
        try await rows(
            .verification,
            """
            INSERT INTO media (media_id, person_id, purpose, content_type, length)
                VALUES (gen_random_uuid(), '\(person)', 'profile_photo', 'image/png', 1);
            INSERT INTO upload_counts VALUES ('\(person)', now(), 1)
            """)
        for service in databases.keys {
            try await rows(
                service,
                """
                SET ROLE scratch_owner;
                CREATE TABLE undescribed (person_id uuid PRIMARY KEY, words text);
                INSERT INTO undescribed VALUES ('\(person)', 'Hej')
                """)
        }
    }

    /// Waits until no event is being delivered.
    func quiet() async throws {
        // An event is in the outbox of its sender or in the effects of its receiver. After two empty looks in a row, no
        // event is left.
        var emptyLooks = 0
        while emptyLooks < 2 {
            var left = 0
            for service in databases.keys {
                let sql = "SELECT count(*) FROM outbox WHERE destination NOT LIKE 'timer:%' OR due_at <= now()"
                left += Int(try await rows(service, sql)) ?? 0
            }
            emptyLooks = left == 0 ? emptyLooks + 1 : 0
            if left > 0 { try await Loop.sleep(for: .milliseconds(10)) }
        }
    }

    // MARK: Where a person's data is

    /// The columns of all tables that contain a text, such as `auth.sessions.person_id`. Bytes are searched as
    /// hexadecimal digits.
    func columns(holding text: String) async throws -> Set<String> {
        // PostgreSQL shows bytes as hexadecimal digits, so a number appears as the bytes of its characters.
        let forms = [text, Hex.encode(Array(text.utf8)), text.replacing("-", with: "")]
        var found: Set<String> = []
        for service in databases.keys {
            let looks = try await rows(
                service,
                """
                SELECT string_agg(format('SELECT %L WHERE EXISTS (SELECT 1 FROM %I WHERE %I::text ~ %L)',
                    table_name || '.' || column_name, table_name, column_name, '\(forms.joined(separator: "|"))'), ' UNION ALL ')
                FROM information_schema.columns
                WHERE table_schema = current_schema() AND table_name <> 'schema_migrations'
                """)
            let columns = try await rows(service, looks)
            found.formUnion(columns.split(separator: "\n").map { "\(service).\($0)" })
        }
        return found
    }

    /// The export sections of all services by column, such as `auth.accounts.id`.
    var described: [String: [(service: ServiceName, kind: String)]] {
        var kinds: [String: [(service: ServiceName, kind: String)]] = [:]
        for (service, container) in containers {
            for section in container.sections {
                for column in section.columns {
                    kinds["\(service).\(column)", default: []].append((service, section.kind))
                }
            }
        }
        return kinds
    }

    /// Compares the columns that hold a person's ID with the export sections.
    ///
    /// A table with a column `person_id` needs no section, but must follow the rules of ``PersonTableRules``. A column
    /// of any other name needs a section.
    ///
    /// - Parameter held: the columns that contain the person's ID.
    func expectIsAccountedFor(_ held: Set<String>) async throws {
        let named = try await columnsNamedForPeople()
        let described = Set(described.keys)
        let byItself = named.filter { $0.hasSuffix(".person_id") }
        let exported = described.union(byItself).union(Self.exportedForAnother)
        #expect(held.union(named).subtracting(exported).sorted() == [], "nobody exports these, and otherIDs lacks them")
        #expect(described.subtracting(held).sorted() == [], "an example of each is missing, so that no test sees it")
        // A section exports the acts under a person's pseudonym.
        #expect(held.filter { $0.contains(".pseudonyms.") && !described.contains($0) } == [])
        for (service, container) in containers {
            guard let database = databases[service] else { continue }
            let columns = container.sections.flatMap(\.columns)
            #expect(try await PersonTableRules.problems(in: database, described: columns) == [], "\(service)")
        }
    }

    /// Columns of rows about two people that the export gives to only one of them. The deletion of either person
    /// removes the row.
    private static let exportedForAnother: Set<String> = [
        // A person must not learn who has looked at them.
        "profile.compatibility_looks.other_id"
    ]

    /// The names of columns with other IDs than a person's. A name that could mean a person has its table before it.
    private static let otherIDs = [
        "id", "back_media_id", "case_id", "challenge_id", "device_id", "event_id", "media_id", "mutation_id",
        "notice_id", "presentation_id", "removed_by_device_id", "session_id", "cases.attempt", "emails.first_number_by",
        "phone_aliases.changed_by", "profiles.changed_by", "sessions.access_id", "subjects.subject",
    ]

    /// The columns that may hold a person's ID. These are columns of the type `uuid` except ``otherIDs``, texts of such
    /// a name, and foreign keys to an account or a profile.
    func columnsNamedForPeople() async throws -> Set<String> {
        var found: Set<String> = []
        let others = "'{\(Self.otherIDs.joined(separator: ","))}'::text[]"
        for service in databases.keys {
            let columns = try await rows(
                service,
                """
                SELECT t.relname || '.' || own.attname
                FROM pg_class t JOIN pg_attribute own ON own.attrelid = t.oid AND own.attnum > 0
                WHERE t.relnamespace = current_schema()::text::regnamespace AND t.relkind IN ('r', 'p')
                    AND NOT t.relispartition AND (
                        own.atttypid IN ('uuid'::regtype, 'uuid[]'::regtype) AND own.attname::text <> ALL (\(others))
                            AND t.relname || '.' || own.attname <> ALL (\(others))
                        OR own.atttypid = 'text'::regtype AND own.attname
                            IN ('person_id', 'user_id', 'account_id', 'owner_id', 'actor_id', 'subject_id'))
                UNION
                SELECT f.relname || '.' || own.attname
                FROM pg_constraint k JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
                    JOIN pg_attribute own ON own.attrelid = f.oid AND own.attnum = ANY (k.conkey)
                    JOIN pg_attribute other ON other.attrelid = t.oid AND other.attnum = ANY (k.confkey)
                WHERE k.contype = 'f' AND k.connamespace = current_schema()::text::regnamespace AND NOT f.relispartition
                    AND (other.attname = 'person_id' OR t.relname = 'accounts' AND other.attname = 'id')
                    AND cardinality(k.conkey) = 1
                """)
            found.formUnion(columns.split(separator: "\n").map { "\(service).\($0)" })
        }
        return found
    }
}
