import BusProtocol
import Cryptography
import Database
import JSONText
import ServiceRuntime

/// Reads records from rows.
extension ProfileStore {
    func written(_ changed: ProfileRecord, _ row: Row) throws -> ProfileRecord {
        var changed = changed
        changed.revision = try row.integer("revision")
        changed.updatedAt = try row.timestamp("updated_at")
        changed.completedAt = try row.optionalTimestamp("completed_at")
        return changed
    }

    func record(_ row: Row) throws -> ProfileRecord {
        let person = try row.uuid("person_id")
        var record = ProfileRecord(
            personID: person, createdAt: try row.timestamp("created_at"), updatedAt: try row.timestamp("updated_at"))
        record.revision = try row.integer("revision")
        record.completedAt = try row.optionalTimestamp("completed_at")
        if let time = try row.optionalTimestamp("questionnaire_completed_at") {
            record.questionnaires[formerQuestionnaire] = time
        }
        for (key, time) in try JSONDocument(row.json("questionnaires")).root.members {
            record.questionnaires[key] = time.string.flatMap { Timestamp($0) }
        }
        for parts in try Self.lists(row, "plans", of: 4) {
            let reference = PlanReference(key: parts[1], version: Int64(parts[2]) ?? 0)
            record.plans[parts[0]] = reference
            if parts[3] == "true" { record.completedPlans.insert(reference) }
        }
        for parts in try Self.lists(row, "consents", of: 4) {
            record.consents[.init(plan: parts[0], document: parts[1], version: parts[2])] =
                Int64(parts[3]).map { Timestamp(microsecondsSinceEpoch: $0) }
        }
        record.operatorTasks = Set(try row.textArray("operator_tasks"))
        record.isBackfilled = try row.bool("is_backfilled")
        record.isSuspended = try row.bool("is_suspended")
        record.visualPreferences = .init(rawValue: try row.text("visual_preferences")) ?? .notStarted
        record.visualDeferredAt = try row.optionalTimestamp("visual_deferred_at")
        record.photoVerification = try row.optionalText("photo_verification").flatMap { .init(rawValue: $0) }
        record.idVerification = try row.optionalText("id_verification").flatMap { .init(rawValue: $0) }
        record.timeZone = try row.optionalText("time_zone").flatMap { PersonTimeZone($0) }
        record.dateOfBirth = try dateOfBirth(in: row)
        record.dateOfBirthSetAt = try row.optionalTimestamp("date_of_birth_set_at")
        record.isDateOfBirthCorrected = try row.bool("date_of_birth_corrected")
        let fields = try JSONDocument(row.json("fields")).root.members
        record.fields.reserveCapacity(fields.count)
        for (key, entry) in fields {
            record.fields[key] = Self.state(entry, of: record)
        }
        record.show(try photo(in: row), at: .now())
        return record
    }

    /// Rows of a table about the person, each a text of so many parts. PostgreSQL makes them in half the time that JSON takes.
    private static func lists(_ row: Row, _ column: String, of count: Int) throws -> [[String]] {
        try row.textArray(column).map { text in
            var (text, parts) = (text, [String]())
            parts.reserveCapacity(count)
            // The text is split by bytes. The separator is one byte, so the code need not find the ends of characters.
            text.withUTF8 { bytes in
                var start = 0
                for end in bytes.indices where bytes[end] == 0x1F {
                    parts.append(String(decoding: bytes[start..<end], as: UTF8.self))
                    start = end + 1
                }
                parts.append(String(decoding: bytes[start...], as: UTF8.self))
            }
            return parts
        }
        .filter { $0.count == count }
    }

    /// The date of birth, opened from its sealed form; `nil` if none is set.
    ///
    /// - Throws: ``SealError`` if it cannot be opened.
    func dateOfBirth(in row: Row) throws -> CivilDate? {
        guard let sealed = try row.optionalBytes("date_of_birth_sealed") else { return nil }
        let opened = try sealer.open(sealed, associated: row.uuid("person_id").array)
        return CivilDate(String(decoding: opened, as: UTF8.self))
    }

    private func photo(in row: Row) throws -> ProfilePhoto? {
        guard let address = try row.optionalText("photo_address"),
            let sealed = try row.optionalBytes("photo_key_sealed")
        else { return nil }
        let key = try photoSealer.open(sealed, associated: row.uuid("person_id").array)
        return ProfilePhoto(address: address, key: AddressKey(key))
    }

    /// A skip without a stored time counts from the creation of the profile.
    private static func state(_ entry: JSONNode, of record: ProfileRecord) -> FieldState? {
        guard let state = entry["state"] else { return nil }
        if state.isString("answered") { return entry["value"].map { .answered($0.value) } }
        if state.isString("skipped") {
            return .skipped(
                times: entry["times"]?.integer ?? 1,
                last: entry["last"]?.string.flatMap { Timestamp($0) } ?? record.createdAt)
        }
        if state.isString("declined") { return .declined }
        return state.isString("stale") ? entry["value"].map { .stale($0.value) } : nil
    }

    static func json(_ state: FieldState?) -> JSONValue {
        switch state {
        case .answered(let value): ["state": "answered", "value": value]
        case .skipped(let times, let last):
            ["state": "skipped", "times": .integer(times), "last": .string(last.description)]
        case .declined: ["state": "declined"]
        case .stale(let value): ["state": "stale", "value": value]
        case nil: .null
        }
    }
}
