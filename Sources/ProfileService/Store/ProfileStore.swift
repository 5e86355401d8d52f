import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// The schema of profile, step by step.
enum ProfileMigrations {
    static let all = [
        Migration(name: "m0001_profiles", sql: String(decoding: PackageResources.m0001_profiles_sql, as: UTF8.self))
    ]
}

/// Rows of profiles.
struct ProfileStore: Sendable {
    let database: Database
    let sealer: Sealer

    /// The profile, made where there is none.
    @Loop func ensured(_ person: Identifier) async throws -> ProfileRecord {
        if let known = try await database.read(Self.load, [.uuid(person)]).first { return try record(known) }
        _ = try await database.write(Self.create, [.uuid(person)])
        guard let row = try await database.read(Self.load, [.uuid(person)]).first else { throw DatabaseError.aborted }
        return try record(row)
    }

    /// As ``ensured(_:)``, locked until the transaction ends.
    @Loop func locked(_ person: Identifier, in transaction: Transaction) async throws -> ProfileRecord {
        transaction.send(Self.create, [.uuid(person)])
        transaction.send(Self.lock, [.uuid(person)])
        guard let row = try await transaction.query(Self.load, [.uuid(person)]).first else {
            throw DatabaseError.aborted
        }
        return try record(row)
    }

    /// Writes what changed and gives back the profile as it is then.
    @Loop func apply(
        _ change: ProfileChange, to record: ProfileRecord, in transaction: Transaction
    ) async throws -> ProfileRecord {
        var changed = record
        for (key, state) in change.states {
            changed.fields[key] = state
            switch state {
            case .answered(let value): try set(key, "answered", value, record.personID, transaction)
            case .skipped: try set(key, "skipped", nil, record.personID, transaction)
            case .declined: try set(key, "declined", nil, record.personID, transaction)
            case nil:
                transaction.send(
                    "DELETE FROM profile_fields WHERE person_id = $1 AND key = $2",
                    [.uuid(record.personID), .text(key)])
            }
        }
        changed.dateOfBirth = change.dateOfBirth ?? record.dateOfBirth
        let sealed = change.dateOfBirth.map {
            sealer.seal(Array($0.description.utf8), associated: record.personID.array)
        }
        let rows = try await transaction.query(
            Self.touch, [.uuid(record.personID), .bytes(sealed), .bool(CompletionRules.isComplete(changed))])
        guard let row = rows.first else { throw DatabaseError.aborted }
        changed.revision = try row.integer("revision")
        changed.updatedAt = try row.timestamp("updated_at")
        changed.completedAt = try row.optionalTimestamp("completed_at")
        return changed
    }

    @Loop private func set(
        _ key: String, _ state: String, _ value: JSONValue?, _ person: Identifier, _ transaction: Transaction
    ) throws {
        transaction.send(
            Self.set, [.uuid(person), .text(key), .text(state), .json(value.map { CanonicalJSON.bytes(of: $0) })])
    }

    private func record(_ row: Row) throws -> ProfileRecord {
        let person = try row.uuid("person_id")
        var record = ProfileRecord(
            personID: person, createdAt: try row.timestamp("created_at"), updatedAt: try row.timestamp("updated_at"))
        record.revision = try row.integer("revision")
        record.completedAt = try row.optionalTimestamp("completed_at")
        record.isQuestionnaireComplete = try row.bool("questionnaire_done")
        if let sealed = try row.optionalBytes("date_of_birth_sealed") {
            let text = String(decoding: try sealer.open(sealed, associated: person.array), as: UTF8.self)
            record.dateOfBirth = CivilDate(text)
        }
        guard let fields = try row.optionalJSON("fields") else { return record }
        for (key, entry) in try JSONDocument(fields).root.members { record.fields[key] = Self.state(entry) }
        return record
    }

    private static func state(_ entry: JSONNode) -> FieldState? {
        switch entry["state"]?.string {
        case "answered": entry["value"].map { .answered($0.value) }
        case "skipped": .skipped
        case "declined": .declined
        default: nil
        }
    }

    private static let create: Statement = "INSERT INTO profiles (person_id) VALUES ($1) ON CONFLICT DO NOTHING"
    private static let lock: Statement = "SELECT person_id FROM profiles WHERE person_id = $1 FOR UPDATE"
    private static let load: Statement = """
        SELECT person_id, date_of_birth_sealed, questionnaire_completed_at IS NOT NULL AS questionnaire_done, completed_at,
            revision, created_at, updated_at,
            (SELECT jsonb_object_agg(f.key, jsonb_build_object('state', f.state, 'value', f.value))
                FROM profile_fields f WHERE f.person_id = p.person_id) AS fields
        FROM profiles p WHERE person_id = $1
        """
    private static let set: Statement = """
        INSERT INTO profile_fields (person_id, key, state, value) VALUES ($1, $2, $3, $4)
        ON CONFLICT (person_id, key) DO UPDATE SET state = excluded.state, value = excluded.value,
            updated_at = clock_timestamp()
        """
    private static let touch: Statement = """
        UPDATE profiles SET revision = revision + 1, updated_at = clock_timestamp(),
            date_of_birth_sealed = coalesce($2, date_of_birth_sealed),
            completed_at = CASE WHEN $3 THEN coalesce(completed_at, clock_timestamp()) END
        WHERE person_id = $1 RETURNING revision, updated_at, completed_at
        """
}
