import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Reads and writes profiles.
struct ProfileStore: Sendable {
    let database: Database
    let sealer: Sealer
    let photoSealer: Sealer
    /// The questionnaire that onboarding required before there were plans.
    let formerQuestionnaire: String
    /// Batches changes with those of other people.
    private let changes: BatchWriter
    /// Reads the rows of `profiles` that the requests of a turn look for, in one statement.
    let profiles: BatchReader

    init(database: Database, keys: KeyRing, formerQuestionnaire: String) {
        (self.database, changes) = (database, BatchWriter(database, Self.changeUnlocked))
        profiles = BatchReader(database, Self.select, by: "person_id")
        (sealer, photoSealer) = (Sealer(keys, purpose: "date-of-birth"), Sealer(keys, purpose: "photo-key"))
        self.formerQuestionnaire = formerQuestionnaire
    }

    /// A profile as its row has it.
    enum Stored {
        case withCopies(ProfileRecord)
        /// The row was written before rows had copies of the person's plans, consents and tasks.
        case withoutCopies
    }

    /// Reads a row of ``profiles``.
    @Loop func stored(_ row: Row) throws -> Stored {
        try row.isNull("plans") ? .withoutCopies : .withCopies(record(row))
    }

    /// The profile, whose row may have no copies.
    @Loop func readingCopies(of person: Identifier) async throws -> ProfileRecord? {
        try await database.read(Self.loadMany, [.uuidArray([person])]).first.map { try record($0) }
    }

    /// Writes the copies into the profile's row.
    @Loop func copy(_ person: Identifier) async throws {
        _ = try await database.write(Self.copy, [.uuid(person)])
    }

    /// The profile, locked until the transaction ends; `nil` if there is none.
    @Loop func known(_ person: Identifier, in transaction: Transaction) async throws -> ProfileRecord? {
        // A statement that waits for the lock itself would read the person's plans and consents as they were before the
        // wait.
        transaction.send(Self.lock, [.uuid(person)])
        return try await known([person], in: transaction).first
    }

    /// The profiles of people, which the transaction has locked.
    @Loop func known(_ people: [Identifier], in transaction: Transaction) async throws -> [ProfileRecord] {
        try await transaction.query(Self.loadMany, [.uuidArray(people)]).map { try record($0) }
    }

    /// The profile with some fields, and the date of birth. Other fields are not read. It is `nil` if there is no profile.
    @Loop func part(of person: Identifier, showing keys: [String]) async throws -> ProfileRecord? {
        try await database.read(Self.loadPublic, [.uuid(person), .textArray(keys)]).first.map { try record($0) }
    }

    /// Locks profiles that an older version of the library judged. It skips profiles that are locked already.
    ///
    /// - Returns: the profiles that can be opened, and the number of those that cannot. It also returns the last person
    ///   of the batch if there may be more.
    @Loop func outdated(
        before version: Int64, after last: Identifier?, limit: Int64, in transaction: Transaction
    ) async throws -> (records: [ProfileRecord], last: Identifier?, unopened: Int64) {
        let rows = try await transaction.query(
            Self.outdated, [.integer(version), .integer(limit), .uuid(last ?? .least)])
        var (records, unopened) = ([ProfileRecord](), Int64(0))
        for row in rows {
            do {
                records.append(try record(row))
            } catch is SealError {
                unopened += 1
            }
        }
        return (records, rows.count == limit ? try rows.last?.uuid("person_id") : nil, unopened)
    }

    /// Writes the changes of a recheck, and stores the version of the library.
    @Loop func recheck(
        _ changes: [String: FieldState], of person: Identifier, isComplete: Bool, by version: Int64,
        in transaction: Transaction
    ) {
        let fields = CanonicalJSON.bytes(of: .object(changes.mapValues { Self.json($0) }))
        transaction.send(
            Self.recheck,
            [
                .uuid(person), .json(fields), .integer(version), .bool(isComplete), .bool(!changes.isEmpty),
            ])
    }

    /// Creates the profile if there is none, unless the person was deleted.
    ///
    /// - Parameter version: the version of the library that judges its answers.
    @Loop func create(_ person: Identifier, judgedBy version: Int64, in transaction: Transaction) {
        Erasure.wait(for: person, in: transaction)
        transaction.send(Self.create, [.uuid(person), .integer(version)])
    }

    /// The version of the plan that the person follows in an app. If there is none yet, it is that of `progress`, and
    /// what the person has done of it is stored. It is `nil` if the person was deleted.
    @Loop func follow(
        _ progress: PlanProgress, of person: Identifier, in app: String, entry: String?
    ) async throws -> PlanReference? {
        let values: [SQLValue] = [
            .uuid(person), .text(app), .text(progress.plan.key), .integer(progress.plan.version), .text(entry),
            .textArray(progress.steps), .bool(progress.isComplete),
        ]
        return try await database.write(Self.follow, values).first.map {
            PlanReference(key: try $0.text("plan"), version: try $0.integer("version"))
        }
    }

    /// Deletes everything about a person.
    @Loop func erase(_ person: Identifier, in transaction: Transaction) {
        // Waits for a transaction that is changing the profile. The statements below then see its history and notes.
        transaction.send(Self.lock, [.uuid(person)])
        transaction.send("DELETE FROM staff_notes WHERE person_id = $1", [.uuid(person)])
        transaction.send("DELETE FROM profile_field_history WHERE person_id = $1", [.uuid(person)])
        transaction.send("DELETE FROM profiles WHERE person_id = $1", [.uuid(person)])
    }

    /// Deletes earlier values of fields after 365 days.
    ///
    /// - Returns: whether there may be more.
    @Loop func purgeHistory() async throws -> Bool {
        try await database.write(Self.purgeHistory, [.integer(Self.page)]).count == Self.page
    }

    private static let page: Int64 = 1000
    static let purgeHistory: Statement = """
        WITH old AS MATERIALIZED (
            SELECT id FROM profile_field_history WHERE changed_at < now() - interval '365 days'
            LIMIT $1 FOR UPDATE SKIP LOCKED)
        DELETE FROM profile_field_history WHERE id IN (SELECT id FROM old) RETURNING id
        """

    /// Writes a change.
    ///
    /// - Parameters:
    ///   - record: the profile, locked in the transaction.
    ///   - isComplete: whether the profile is complete after the change.
    ///   - saidAt: when the person made the change, by this database's clock; `nil` for now.
    ///   - inAnswers: whether the change comes from answers to a questionnaire.
    ///   - message: the message that asks for it, if it must not be done again.
    ///   - commits: whether this is the last statement of the transaction.
    /// - Returns: the profile after the change.
    @Loop func apply(
        _ change: ProfileChange, to record: ProfileRecord, isComplete: Bool, saidAt: Timestamp? = nil,
        inAnswers: Bool = false, by message: Identifier? = nil, commits: Bool = false, in transaction: Transaction
    ) async throws -> ProfileRecord {
        let changed = record.changed(by: change)
        let values = values(of: change, record, changed, isComplete, saidAt: saidAt, inAnswers: inAnswers, by: message)
            .map { SQLValue.array([$0]) }
        let rows =
            commits
            ? try await transaction.queryLast(Self.change, values) : try await transaction.query(Self.change, values)
        guard let row = rows.first else { throw DatabaseError.aborted }
        return try written(changed, row)
    }

    /// Whether a message that requests a change has made it before.
    enum MessageRepetition {
        case new
        /// It made its change before.
        case done
        /// It may have made its change before.
        case forgotten
    }

    /// Whether a message has changed the profile before. Messages that changed it are noted for ten seconds, and the
    /// last 16 for longer.
    ///
    /// A message may have been forgotten if a noted one was sent more than five seconds after it. After a minute
    /// without a change it counts as new, because no message is in transit for so long.
    ///
    /// - Parameter person: whose profile is locked in the transaction.
    @Loop func repetition(
        of message: Identifier, _ person: Identifier, in transaction: Transaction
    ) async throws -> MessageRepetition {
        guard
            let row = try await transaction.query(
                Self.findMessage, [.uuid(person), .uuid(message), .uuid(message.moved(byMilliseconds: 5_000))]
            ).first
        else { return .new }
        if try row.bool("is_done") { return .done }
        return try row.bool("is_forgotten") ? .forgotten : .new
    }

    /// Like ``apply(_:to:isComplete:saidAt:inAnswers:by:commits:in:)``, but for a profile that is not locked. One
    /// statement makes this change and those of other people.
    ///
    /// - Returns: `nil` if nothing was written. That is so if the profile changed since it was read. It is also so if
    ///   the message is older than one that changed the profile: it may have made this change before.
    @Loop func apply(
        _ change: ProfileChange, toUnchanged record: ProfileRecord, isComplete: Bool, by message: Identifier
    ) async throws -> ProfileRecord? {
        let changed = record.changed(by: change)
        let values = values(of: change, record, changed, isComplete, by: message)
        return try await changes.write(values).map { try written(changed, $0) }
    }

    private func values(
        of change: ProfileChange, _ record: ProfileRecord, _ changed: ProfileRecord, _ isComplete: Bool,
        saidAt: Timestamp? = nil, inAnswers: Bool = false, by message: Identifier? = nil
    ) -> [SQLValue] {
        let sealed = change.dateOfBirth.map {
            sealer.seal(Array($0.description.utf8), associated: record.personID.array)
        }
        let fields = CanonicalJSON.bytes(of: .object(change.states.mapValues { Self.json($0) }))
        return [
            .uuid(record.personID), .bytes(sealed), .bool(isComplete), .json(fields),
            .bool(change.timeZone != nil), .text(changed.timeZone?.name), .integer(record.revision),
            .timestamp(saidAt), .bool(inAnswers), .uuid(message), .uuid(message?.moved(byMilliseconds: -10_000)),
        ]
    }

    /// The fields among these that the person answered, declined or cleared here after a time. Changes by answers to
    /// questionnaires do not count.
    ///
    /// - Parameters:
    ///   - record: the profile, locked in the transaction.
    ///   - time: by this database's clock.
    @Loop func changed(
        _ fields: [String], of record: ProfileRecord, after time: Timestamp, in transaction: Transaction
    ) async throws -> Set<String> {
        let values: [SQLValue] = [.uuid(record.personID), .textArray(fields), .timestamp(time)]
        return Set(try await transaction.query(Self.findChanged, values).map { try $0.text("key") })
    }

    /// The fields among these that the person cleared last.
    @Loop func cleared(
        _ fields: [String], of person: Identifier, in transaction: Transaction
    ) async throws -> Set<String> {
        guard !fields.isEmpty else { return [] }
        let rows = try await transaction.query(Self.findCleared, [.uuid(person), .textArray(fields)])
        return Set(try rows.map { try $0.text("key") })
    }

    /// The time by this database's clock.
    @Loop func now() async throws -> Timestamp {
        try await database.read("SELECT clock_timestamp() AS now").first?.timestamp("now") ?? .now()
    }

    private static let findChanged: Statement = """
        SELECT key FROM profile_field_history
        WHERE person_id = $1 AND key = ANY ($2) AND changed_at > $3 AND NOT is_answer
            AND state IN ('answered', 'declined', 'cleared')
        UNION SELECT 'dateOfBirth' FROM profiles
        WHERE person_id = $1 AND date_of_birth_set_at > $3 AND NOT date_of_birth_is_answer
        """

    private static let findCleared: Statement = """
        SELECT key FROM (
            SELECT DISTINCT ON (key) key, state FROM profile_field_history
            WHERE person_id = $1 AND key = ANY ($2) ORDER BY key, id DESC) AS newest
        WHERE state = 'cleared'
        """

    private static let create: Statement = """
        INSERT INTO profiles (person_id, catalogue_version)
        SELECT $1, $2::bigint WHERE NOT is_erased($1) ON CONFLICT DO NOTHING
        """
    private static let follow: Statement = """
        INSERT INTO person_plans AS p (person_id, app, plan, version, entry, steps, began_at, completed_at)
        SELECT $1, $2::text, $3::text, $4::integer, $5::text,
            coalesce((SELECT jsonb_object_agg(key, 0) FROM unnest($6::text[]) AS key), '{}'), now(),
            CASE WHEN $7 THEN now() END
        WHERE EXISTS (SELECT FROM profiles WHERE person_id = $1)
        ON CONFLICT (person_id, app) DO UPDATE SET plan = p.plan RETURNING plan, version
        """
    private static let copy: Statement = "SELECT copy_to_profile($1)"
    private static let columns = """
        person_id, date_of_birth_sealed, date_of_birth_set_at, date_of_birth_corrected,
            questionnaire_completed_at, questionnaires, completed_at,
            onboarding_backfilled_at IS NOT NULL AS is_backfilled, suspended_at IS NOT NULL AS is_suspended,
            visual_preferences, visual_deferred_at, photo_verification, id_verification, time_zone,
            photo_address, photo_key_sealed, revision, created_at, updated_at, fields
        """
    /// PostgreSQL calls the function only for a profile that is older than the copies.
    private static let plans = "coalesce(copied_plans, (copies_of(person_id)).plans) AS plans"
    private static let copies = """
        \(plans), coalesce(copied_consents, (copies_of(person_id)).consents) AS consents,
            coalesce(copied_tasks, (copies_of(person_id)).tasks) AS operator_tasks
        """
    /// It finds no copies for a profile that is older than they are. The function calls of `loadMany` would make each
    /// read slower.
    private static let select = """
        SELECT \(columns), copied_plans AS plans, copied_consents AS consents, copied_tasks AS operator_tasks
        FROM profiles
        """
    private static let loadMany = Statement("SELECT \(columns), \(copies) FROM profiles WHERE person_id = ANY ($1)")
    private static let loadPublic = Statement(
        """
        SELECT person_id, date_of_birth_sealed, date_of_birth_set_at, date_of_birth_corrected,
            questionnaire_completed_at, questionnaires, completed_at,
            onboarding_backfilled_at IS NOT NULL AS is_backfilled, suspended_at IS NOT NULL AS is_suspended,
            visual_preferences, visual_deferred_at, photo_verification, id_verification, time_zone,
            CASE WHEN 'photo' = ANY ($2) THEN photo_address END AS photo_address, photo_key_sealed,
            '{}'::text[] AS consents, '{}'::text[] AS operator_tasks, revision, created_at, updated_at, (
                SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(fields) WHERE key = ANY($2)
            ) AS fields, \(plans)
        FROM profiles WHERE person_id = $1
        """)
    private static let outdated = Statement(
        """
        SELECT \(columns), \(copies) FROM profiles WHERE catalogue_version < $1 AND person_id > $3
            -- Where there is none, which the index says, nobody's profile is looked at.
            AND EXISTS (SELECT FROM profiles WHERE catalogue_version < $1)
        ORDER BY person_id LIMIT $2
        FOR UPDATE SKIP LOCKED
        """)
    private static let recheck: Statement = """
        UPDATE profiles SET fields = fields || $2, catalogue_version = $3,
            completed_at = CASE WHEN $4 THEN completed_at END,
            revision = revision + $5::int,
            updated_at = CASE WHEN $5 THEN clock_timestamp() ELSE updated_at END
        WHERE person_id = $1
        """
    private static let findMessage: Statement = """
        SELECT $2 = ANY (changed_by) AS is_done,
            cardinality(changed_by) >= 16 AND updated_at > clock_timestamp() - interval '60 s'
                AND $3 < ANY (changed_by) AS is_forgotten
        FROM profiles WHERE person_id = $1
        """
    private static let lock: Statement = "SELECT FROM profiles WHERE person_id = $1 FOR UPDATE"
    /// Merges the changed fields into the stored ones. Fields that this release does not know stay as they are. A
    /// profile with another revision is not written. Profiles are updated in one order, so that two statements cannot
    /// deadlock.
    ///
    /// - Parameter order: how the message compares with each that is noted.
    private static func changing(comparing order: String) -> Statement {
        Statement(
            """
            WITH given AS (
                SELECT person, born, is_complete, fields, sets_zone, zone, seen, coalesce(said, clock_timestamp()) AS said,
                    is_answer, message, oldest, place
                FROM unnest($1::uuid[], $2::bytea[], $3::bool[], $4::jsonb[], $5::bool[], $6::text[], $7::bigint[],
                    $8::timestamptz[], $9::bool[], $10::uuid[], $11::uuid[]) WITH ORDINALITY
                    AS g (person, born, is_complete, fields, sets_zone, zone, seen, said, is_answer, message, oldest, place)
                ORDER BY person
            ), changed AS (
                UPDATE profiles p SET revision = p.revision + 1, updated_at = clock_timestamp(), fields = p.fields || g.fields,
                    date_of_birth_sealed = coalesce(g.born, p.date_of_birth_sealed),
                    date_of_birth_set_at = CASE WHEN p.date_of_birth_sealed IS NULL AND g.born IS NOT NULL
                        THEN g.said ELSE p.date_of_birth_set_at END,
                    date_of_birth_is_answer = CASE WHEN p.date_of_birth_sealed IS NULL AND g.born IS NOT NULL
                        THEN g.is_answer ELSE p.date_of_birth_is_answer END,
                    date_of_birth_corrected = p.date_of_birth_corrected
                        OR p.date_of_birth_sealed IS NOT NULL AND g.born IS NOT NULL,
                    time_zone = CASE WHEN g.sets_zone THEN g.zone ELSE p.time_zone END,
                    completed_at = CASE WHEN g.is_complete THEN coalesce(p.completed_at, clock_timestamp()) END,
                    changed_by = CASE WHEN g.message IS NULL THEN p.changed_by ELSE
                        (g.message || p.changed_by)[1:CASE WHEN p.changed_by[16] >= g.oldest THEN 1024 ELSE 16 END] END
                FROM given g
                WHERE p.person_id = g.person AND p.revision = g.seen
                    AND (g.message IS NULL OR g.message \(order) ALL (p.changed_by))
                RETURNING p.person_id, p.revision, p.updated_at, p.completed_at, g.fields AS given, g.said, g.is_answer,
                    g.place
            ), history AS (
                INSERT INTO profile_field_history (person_id, key, state, value, changed_at, is_answer)
                SELECT person_id, key, coalesce(entry ->> 'state', 'cleared'), entry -> 'value', said, is_answer
                FROM changed, jsonb_each(given) AS c (key, entry)
            )
            SELECT place, revision, updated_at, completed_at FROM changed
            """)
    }
    private static let change = changing(comparing: "<>")
    private static let changeUnlocked = changing(comparing: ">")
}
