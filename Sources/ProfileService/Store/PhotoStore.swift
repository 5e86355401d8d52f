import BusProtocol
import Database
import EventLoop

/// Writes the data that profile stores about people's photos. ``ProfileStore`` reads it.
@Loop enum PhotoStore {
    /// The most people of a page.
    static let page: Int64 = 50

    /// Stores which photo represents a person.
    ///
    /// - Parameter sealedKey: the sealed key that signs the address; `nil` for no photo.
    static func note(
        _ record: ProfileRecord, sealedKey: [UInt8]?, isComplete: Bool, in transaction: Transaction
    ) {
        transaction.send(
            note,
            [.uuid(record.personID), .text(record.photo?.address), .bytes(sealedKey), .bool(isComplete)])
    }

    /// Removes the addresses that apps wrote before photos were uploaded, from a page of profiles.
    ///
    /// - Parameter last: the last person of the page before.
    /// - Returns: the people who have no photo since then, and the last person of this page if there may be more.
    static func dropAddresses(
        after last: Identifier?, in transaction: Transaction
    ) async throws -> (dropped: [Identifier], last: Identifier?) {
        let people = try await transaction.query(people, [.uuid(last ?? .least), .integer(page)]).map {
            try $0.uuid("person_id")
        }
        transaction.send(lock, [.uuidArray(people)])
        let dropped = try await transaction.query(drop, [.uuidArray(people)]).map { try $0.uuid("person_id") }
        return (dropped, people.count == page ? people.last : nil)
    }

    private static let note: Statement = """
        UPDATE profiles SET photo_address = $2, photo_key_sealed = $3,
            completed_at = CASE WHEN $4 THEN coalesce(completed_at, clock_timestamp()) END,
            revision = revision + 1, updated_at = clock_timestamp()
        WHERE person_id = $1
        """
    private static let people: Statement = """
        SELECT person_id FROM profiles WHERE person_id > $1 ORDER BY person_id LIMIT $2
        """
    /// Profiles are locked in one order, so that two statements cannot deadlock.
    private static let lock: Statement = """
        SELECT FROM profiles WHERE person_id = ANY ($1) AND fields -> 'photo' ? 'value' ORDER BY person_id FOR UPDATE
        """
    private static let drop: Statement = """
        WITH dropped AS (
            UPDATE profiles SET fields = fields - 'photo', revision = revision + 1, updated_at = clock_timestamp()
            WHERE person_id = ANY ($1) AND fields -> 'photo' ? 'value' RETURNING person_id, photo_address
        ), history AS (
            INSERT INTO profile_field_history (person_id, key, state, changed_at)
            SELECT person_id, 'photo', 'cleared', clock_timestamp() FROM dropped
        )
        SELECT person_id FROM dropped WHERE photo_address IS NULL
        """
}
