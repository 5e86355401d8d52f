import BusProtocol
import Cryptography
import Database
import ServiceRuntime

/// The sections of a person's export that profile provides.
enum ProfileExport {
    static func sections(_ sealer: Sealer, notes: Sealer, audit: AuditTrail) -> [ExportSection] {
        let born = ExportSection.Sealed("dateOfBirth") { sealed, person in
            String(decoding: try sealer.open(sealed, associated: person.array), as: UTF8.self)
        }
        let note = ExportSection.Sealed("note") { sealed, person in
            String(decoding: try notes.open(sealed, associated: person.array), as: UTF8.self)
        }
        return [
            ExportSection("profile", of: ["profiles"], profile, sealed: born),
            ExportSection("field_history", of: ["profile_field_history"], history),
            ExportSection("waitlist", of: ["waitlist"], waitlist),
            ExportSection("event", of: ["onboarding_events", "journeys"], events),
            ExportSection("staffNote", of: ["staff_notes"], staffNote, sealed: note), .audit(audit),
        ]
    }

    private static func time(_ column: String) -> String { ExportSection.time(column) }

    private static let profile = """
        SELECT 'profile' AS key, date_of_birth_sealed AS sealed, jsonb_build_object(
            'fields', fields, 'questionnaires', questionnaires,
            'dateOfBirthSetAt', \(time("date_of_birth_set_at")), 'dateOfBirthCorrected', date_of_birth_corrected, 'revision', revision, 'catalogueVersion', catalogue_version,
            'questionnaireCompletedAt', \(time("questionnaire_completed_at")),
            'onboardingBackfilledAt', \(time("onboarding_backfilled_at")),
            'suspendedAt', \(time("suspended_at")), 'timeZone', time_zone,
            'visualPreferences', visual_preferences,
            'visualPreferencesDeferredAt', \(time("visual_deferred_at")), 'photoVerification', photo_verification,
            'idVerification', id_verification, 'photo', photo_address, 'completedAt', \(time("completed_at")),
            'createdAt', \(time("created_at")), 'updatedAt', \(time("updated_at"))) AS record
        FROM profiles WHERE person_id = $1
        """
    private static let history = """
        SELECT lpad(id::text, 19, '0') AS key, jsonb_build_object(
            'field', key, 'state', state, 'value', value, 'changedAt', \(time("changed_at"))) AS record
        FROM profile_field_history WHERE person_id = $1
        """
    private static let events = """
        SELECT event_id::text AS key, jsonb_build_object(
            'name', name, 'at', \(time("at")), 'properties', properties) AS record
        FROM onboarding_events WHERE \(EventStore.all("person_id", "$1"))
        """
    private static let waitlist = """
        SELECT 'waitlist' AS key, '{"notify": true}'::jsonb AS record FROM waitlist WHERE person_id = $1
        """
    /// The export leaves out which member of staff wrote the note.
    private static let staffNote = """
        SELECT id::text AS key, note_sealed AS sealed, jsonb_build_object('act', act, 'at', \(time("at"))) AS record
        FROM staff_notes WHERE person_id = $1
        """
}
