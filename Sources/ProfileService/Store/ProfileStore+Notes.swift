import BusProtocol
import Database
import EventLoop

/// Stores a person's onboarding beside the fields: questionnaires, consents, tasks and suspension.
extension ProfileStore {
    /// Stores when a questionnaire was completed for the first time. It creates the profile if there is none.
    @Loop func noteQuestionnaire(
        _ questionnaire: String, of person: Identifier, completedAt: Timestamp, in transaction: Transaction
    ) {
        transaction.send(
            Self.noteQuestionnaire,
            [
                .uuid(person), .timestamp(completedAt), .text(questionnaire), .text(completedAt.description),
                .bool(questionnaire == formerQuestionnaire),
            ])
    }

    /// Stores whether the account is suspended. It does nothing if there is no profile.
    @Loop func note(isSuspended: Bool, since: Timestamp, of person: Identifier, in transaction: Transaction) {
        transaction.send(Self.suspend, [.uuid(person), .timestamp(isSuspended ? since : nil)])
    }

    /// Stores the state of the visual preferences and of the verifications.
    @Loop func noteExternalEvents(of record: ProfileRecord, in transaction: Transaction) {
        transaction.send(
            Self.noteExternalEvents,
            [
                .uuid(record.personID), .text(record.visualPreferences.rawValue),
                .text(record.photoVerification?.rawValue), .text(record.idVerification?.rawValue),
                .timestamp(record.visualDeferredAt),
            ])
    }

    /// Stores which photo represents the person.
    @Loop func notePhoto(of record: ProfileRecord, isComplete: Bool, in transaction: Transaction) {
        let sealed = record.photo.map { photoSealer.seal($0.key.bytes, associated: record.personID.array) }
        PhotoStore.note(record, sealedKey: sealed, isComplete: isComplete, in: transaction)
    }

    /// Stores that the person accepted a version of a text.
    @Loop func noteConsent(
        _ terms: Plan.TermsKey, of person: Identifier, at time: Timestamp, in transaction: Transaction
    ) {
        transaction.send(
            Self.noteConsent,
            [.uuid(person), .text(terms.plan), .text(terms.document), .text(terms.version), .timestamp(time)])
    }

    /// Stores whether the operator has done a task with the person.
    @Loop func note(operatorTask task: String, isDone: Bool, of person: Identifier, in transaction: Transaction) {
        transaction.send(isDone ? Self.noteTask : Self.clearTask, [.uuid(person), .text(task)])
    }

    /// Stores a staff note about a person.
    ///
    /// - Parameters:
    ///   - sealed: the sealed note.
    ///   - staff: the pseudonym of the author.
    @Loop func note(
        _ sealed: [UInt8], of person: Identifier, act: String, by staff: String, in transaction: Transaction
    ) {
        transaction.send(
            Self.keepNote, [.uuid(.ordered()), .uuid(person), .text(act), .text(staff), .bytes(sealed)])
    }

    private static let noteQuestionnaire: Statement = """
        INSERT INTO profiles AS p (person_id, questionnaires, questionnaire_completed_at)
        VALUES ($1, jsonb_build_object($3::text, $4::text), CASE WHEN $5 THEN $2::timestamptz END)
        ON CONFLICT (person_id) DO UPDATE
            SET questionnaires = excluded.questionnaires || p.questionnaires,
                questionnaire_completed_at = coalesce(p.questionnaire_completed_at, excluded.questionnaire_completed_at),
                revision = p.revision + 1, updated_at = clock_timestamp()
        """
    private static let noteExternalEvents: Statement = """
        UPDATE profiles SET visual_preferences = $2, photo_verification = $3, id_verification = $4,
            visual_deferred_at = $5, revision = revision + 1, updated_at = clock_timestamp()
        WHERE person_id = $1
        """
    private static let noteConsent: Statement = """
        WITH accepted AS (
            INSERT INTO consents (person_id, plan, document, version, accepted_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT DO NOTHING)
        UPDATE profiles SET revision = revision + 1, updated_at = clock_timestamp() WHERE person_id = $1
        """
    private static let noteTask: Statement = """
        WITH done AS (INSERT INTO operator_tasks (person_id, task) VALUES ($1, $2) ON CONFLICT DO NOTHING)
        UPDATE profiles SET revision = revision + 1, updated_at = clock_timestamp() WHERE person_id = $1
        """
    private static let clearTask: Statement = """
        WITH undone AS (DELETE FROM operator_tasks WHERE person_id = $1 AND task = $2)
        UPDATE profiles SET revision = revision + 1, updated_at = clock_timestamp() WHERE person_id = $1
        """
    private static let keepNote: Statement = """
        INSERT INTO staff_notes (id, person_id, act, staff, note_sealed) VALUES ($1, $2, $3, $4, $5)
        """
    private static let suspend: Statement = """
        UPDATE profiles SET suspended_at = $2, revision = revision + 1, updated_at = clock_timestamp() WHERE person_id = $1
        """
}
