import BusProtocol
import Database
import ServiceRuntime

/// What auth holds about a person. Secrets and hashes are not theirs to read: they open doors and say nothing.
enum AuthExport {
    static func sections(_ secrets: Secrets, audit: AuditTrail) -> [ExportSection] {
        let number = ExportSection.Sealed("number") { sealed, person in
            String(decoding: try secrets.phoneSealer.open(sealed, associated: person.array), as: UTF8.self)
        }
        let email = ExportSection.Sealed("email") { hashAndSealed, _ in
            let (hash, sealed) = (Array(hashAndSealed.prefix(32)), Array(hashAndSealed.dropFirst(32)))
            return try secrets.identity(sealed, hash: hash).email?.text ?? ""
        }
        let note = ExportSection.Sealed("note") { sealed, person in
            String(decoding: try secrets.noteSealer.open(sealed, associated: person.array), as: UTF8.self)
        }
        return [
            ExportSection("account", account), ExportSection("phone", phone, sealed: number),
            ExportSection("formerPhone", formerPhone, sealed: number),
            ExportSection("identity", identity, sealed: email),
            ExportSection("device", device), ExportSection("session", session), ExportSection("code", code),
            ExportSection("freeze", freeze), ExportSection("roleProposal", roleProposal),
            ExportSection("staffNote", staffNote, sealed: note), .audit(audit),
        ]
    }

    private static func time(_ column: String) -> String { ExportSection.time(column) }

    private static let account = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'status', status, 'role', role, 'createdAt', \(time("created_at"))) AS record
        FROM accounts WHERE id = $1
        """
    private static let phone = """
        SELECT 'phone' AS key, sealed, jsonb_build_object('since', \(time("created_at"))) AS record
        FROM phones WHERE person_id = $1
        """
    private static let formerPhone = """
        SELECT encode(hash, 'hex') AS key, sealed, jsonb_build_object(
            'takenOffAt', \(time("taken_off_at")), 'recoversUntil', \(time("until"))) AS record
        FROM phone_aliases WHERE person_id = $1
        """
    /// What is known of an identity opens only with what it is found by.
    private static let identity = """
        SELECT provider AS key, hash || sealed AS sealed, jsonb_build_object(
            'provider', provider, 'linkedAt', \(time("linked_at")), 'lastUsedAt', \(time("last_used_at"))) AS record
        FROM identities WHERE person_id = $1
        """
    private static let device = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'name', name, 'platform', platform, 'hasPushToken', push_token_sealed IS NOT NULL,
            'createdAt', \(time("created_at")), 'lastUsedAt', \(time("last_used_at"))) AS record
        FROM devices WHERE person_id = $1
        """
    private static let session = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'deviceId', device_id, 'createdAt', \(time("created_at")), 'lastUsedAt', \(time("last_used_at")),
            'codeAt', \(time("otp_at")), 'endedAt', \(time("revoked_at"))) AS record
        FROM sessions WHERE person_id = $1
        """
    private static let code = """
        SELECT c.id::text AS key, jsonb_build_object(
            'id', c.id, 'purpose', c.purpose, 'state', c.state, 'wrongTries', c.wrong_tries,
            'sentAt', \(time("c.created_at")), 'expiresAt', \(time("c.expires_at"))) AS record
        FROM challenges c JOIN phones p ON p.hash = c.phone_hash WHERE p.person_id = $1
        """
    private static let freeze = """
        SELECT case_id::text AS key, jsonb_build_object(
            'caseId', case_id, 'createdAt', \(time("created_at")), 'until', \(time("until")),
            'endedAt', \(time("ended_at"))) AS record
        FROM freezes WHERE person_id = $1
        """
    /// Which operator asked is not the person's.
    private static let roleProposal = """
        SELECT 'roleProposal' AS key, jsonb_build_object(
            'role', 'admin', 'isGranted', is_granted, 'until', \(time("until"))) AS record
        FROM role_proposals WHERE person_id = $1
        """
    /// Which of the staff wrote it is not the person's.
    private static let staffNote = """
        SELECT id::text AS key, note_sealed AS sealed, jsonb_build_object('act', act, 'at', \(time("at"))) AS record
        FROM staff_notes WHERE person_id = $1
        """
}
