import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// The sections of an export with auth's data about a person. They leave out secrets and hashes, which give access and
/// carry no information.
enum AuthExport {
    static func sections(_ secrets: Secrets, audit: AuditTrail) -> [ExportSection] {
        let number = ExportSection.Sealed("number") { sealed, person in
            String(decoding: try secrets.phoneSealer.open(sealed, associated: person.array), as: UTF8.self)
        }
        let proven = ExportSection.Sealed { hashAndSealed, _ in
            let (hash, sealed) = (Array(hashAndSealed.prefix(32)), Array(hashAndSealed.dropFirst(32)))
            let identity = try secrets.identity(sealed, hash: hash)
            return [
                "issuer": .string(identity.issuer), "subject": .string(identity.subject),
                "audience": .string(identity.audience), "email": identity.email.map { .string($0.text) } ?? .null,
            ]
        }
        let address = ExportSection.Sealed("address") { sealed, person in
            String(decoding: try secrets.emails.open(sealed, for: person), as: UTF8.self)
        }
        let sentTo = ExportSection.Sealed { flagged, _ in
            let (id, sealed) = (Array(flagged.dropFirst().prefix(16)), Array(flagged.dropFirst(17)))
            let kind: Contact.Kind = flagged.first == 1 ? .email : .phone
            let contact = try secrets.keys(of: kind).sealer.open(sealed, associated: id)
            return [kind == .email ? "address" : "number": .string(String(decoding: contact, as: UTF8.self))]
        }
        let note = ExportSection.Sealed("note") { sealed, person in
            String(decoding: try secrets.noteSealer.open(sealed, associated: person.array), as: UTF8.self)
        }
        return [
            ExportSection("account", of: ["accounts.id"], account),
            ExportSection("phone", of: ["phones"], phone, sealed: number),
            ExportSection("email", of: ["emails"], email, sealed: address),
            ExportSection("formerPhone", of: ["phone_aliases"], formerPhone, sealed: number),
            ExportSection("identity", of: ["identities"], identity, sealed: proven),
            ExportSection("device", of: ["devices"], device),
            ExportSection("formerPushToken", of: ["replaced_push_tokens"], formerPushToken),
            ExportSection("session", of: ["sessions"], session),
            ExportSection("code", of: [], code, sealed: sentTo) { try await codes(of: $0, secrets, in: $1) },
            ExportSection("freeze", of: ["freezes"], freeze),
            ExportSection("roleProposal", of: ["role_proposals"], roleProposal),
            ExportSection("staffNote", of: ["staff_notes"], staffNote, sealed: note), .audit(audit),
        ]
    }

    private static func time(_ column: String) -> String { ExportSection.time(column) }

    private static let account = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'status', status, 'role', role, 'createdAt', \(time("created_at"))) AS record
        FROM accounts WHERE id = $1
        """
    private static let phone = """
        SELECT 'phone' AS key, sealed, jsonb_build_object(
            'since', \(time("created_at")), 'heldBeforeSeconds', extract(epoch FROM held_before)::bigint) AS record
        FROM phones WHERE person_id = $1
        """
    private static let email = """
        SELECT 'email' AS key, sealed, jsonb_build_object(
            'linkedAt', \(time("linked_at")), 'lastUsedAt', \(time("last_used_at")),
            'firstNumberAt', \(time("first_number_at")), 'firstNumberBy', first_number_by) AS record
        FROM emails WHERE person_id = $1
        """
    private static let formerPhone = """
        SELECT encode(hash, 'hex') AS key, sealed, jsonb_build_object(
            'takenOffAt', \(time("taken_off_at")), 'takenOffBy', changed_by, 'recoversUntil', \(time("until")),
            'heldSeconds', extract(epoch FROM held)::bigint) AS record
        FROM phone_aliases WHERE person_id = $1
        """
    /// An identity is sealed with its hash, so the hash precedes the sealed data.
    private static let identity = """
        SELECT provider AS key, hash || sealed AS sealed, jsonb_build_object(
            'provider', provider, 'linkedAt', \(time("linked_at")), 'lastUsedAt', \(time("last_used_at")),
            'toConfirmSince', \(time("to_confirm_since"))) AS record
        FROM identities WHERE person_id = $1
        """
    private static let device = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'name', name, 'platform', platform, 'language', language, 'hasPushToken', push_token_sealed IS NOT NULL,
            'pushExpiredAt', \(time("push_expired_at")), 'createdAt', \(time("created_at")),
            'lastUsedAt', \(time("last_used_at")), 'removedAt', \(time("removed_at")),
            'removedBy', removed_by_device_id) AS record
        FROM devices WHERE person_id = $1
        """
    private static let formerPushToken = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'deviceId', device_id, 'replacedAt', \(time("replaced_at"))) AS record
        FROM replaced_push_tokens WHERE person_id = $1
        """
    private static let session = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'deviceId', device_id, 'createdAt', \(time("created_at")), 'lastUsedAt', \(time("last_used_at")),
            'openedBy', coalesce(opened_by, CASE WHEN email_at IS NULL THEN 'code' ELSE 'email_code' END),
            'app', app, 'codeAt', \(time("coalesce(otp_at, email_at)")), 'endedAt', \(time("revoked_at"))) AS record
        FROM sessions WHERE person_id = $1
        """
    /// The parameter of ``code``. It has the lasting hashes of the person's numbers and address, by which challenges are
    /// found. The rows of the contacts have look-up hashes.
    ///
    /// The section has the codes to the present number and address, and to those of requested changes. For a former
    /// number, it has the codes from before the change: a later holder is another person. Each number is sealed with
    /// its challenge's id.
    @Loop private static func codes(
        of person: Identifier, _ secrets: Secrets, in transaction: Transaction
    ) async throws -> SQLValue {
        let contacts = try await transaction.query(contacts, [.uuid(person)]).map { row -> JSONValue in
            let keys = secrets.keys(of: try row.bool("is_email") ? .email : .phone)
            let hashes = try keys.hashes(ofSealed: try row.bytes("sealed"), for: person)
            return ["hash": .string(Hex.encode(hashes.lasting)), "until": .string(try row.text("until"))]
        }
        return .json(CanonicalJSON.bytes(of: ["person": .string(person.description), "contacts": .array(contacts)]))
    }
    private static let contacts: Statement = """
        SELECT sealed, 'infinity' AS until, false AS is_email FROM phones WHERE person_id = $1
        UNION ALL SELECT sealed, 'infinity', true FROM emails WHERE person_id = $1
        UNION ALL SELECT sealed, taken_off_at::text, false FROM phone_aliases WHERE person_id = $1
        """
    private static let emailPurposes = ChallengePurpose.allCases.filter { $0.contact == .email }
        .map { "'\($0.rawValue)'" }.joined(separator: ", ")
    /// The first byte tells an address from a number, since each kind is sealed under its own key.
    private static let code = """
        SELECT c.id::text AS key, CASE WHEN c.phone_sealed <> '' THEN
                CASE WHEN c.purpose IN (\(emailPurposes)) THEN '\\x01'::bytea ELSE '\\x00'::bytea END
                    || uuid_send(c.id) || c.phone_sealed END AS sealed,
            jsonb_build_object(
                'id', c.id, 'purpose', c.purpose, 'state', c.state, 'wrongTries', c.wrong_tries,
                'createdAt', \(time("c.created_at")), 'sentAt', \(time("c.sent_at")),
                'expiresAt', \(time("c.expires_at"))) AS record
        FROM challenges c WHERE c.id IN (
            SELECT o.id FROM jsonb_array_elements($1::jsonb -> 'contacts') AS p (contact)
                JOIN challenges o ON o.phone_hash = decode(contact ->> 'hash', 'hex')
                    AND o.created_at <= (contact ->> 'until')::timestamptz
            UNION SELECT b.challenge_id FROM challenge_bindings b JOIN sessions s ON s.id = b.session_id
                WHERE s.person_id = ($1::jsonb ->> 'person')::uuid)
        """
    private static let freeze = """
        SELECT case_id::text AS key, jsonb_build_object(
            'caseId', case_id, 'createdAt', \(time("created_at")), 'until', \(time("until")),
            'holdUntil', \(time("hold_until")), 'appliedAt', \(time("applied_at")), 'endedAt', \(time("ended_at"))) AS record
        FROM freezes WHERE person_id = $1
        """
    /// The name of the operator is not data about the person.
    private static let roleProposal = """
        SELECT 'roleProposal' AS key, jsonb_build_object(
            'role', 'admin', 'isGranted', is_granted, 'until', \(time("until"))) AS record
        FROM role_proposals WHERE person_id = $1
        """
    /// The author of the note is not data about the person.
    private static let staffNote = """
        SELECT id::text AS key, note_sealed AS sealed, jsonb_build_object('act', act, 'at', \(time("at"))) AS record
        FROM staff_notes WHERE person_id = $1
        """
}
