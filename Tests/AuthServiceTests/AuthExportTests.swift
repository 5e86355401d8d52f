import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// Auth's part of a person's export, column by column.
@Suite("export from auth") struct AuthExportTests {
    private static let email = "beda@example.com"
    private static let (old, new, third) = ("+14155552671", "+46701234567", "+46701234568")

    /// Every column of every table that a section describes, and the member of a record that it is exported as; `nil` where it
    /// opens doors, counts tries or names nobody.
    private static let columns: [String: String?] = [
        "accounts.id": "account.id", "accounts.status": "account.status", "accounts.role": "account.role",
        "accounts.created_at": "account.createdAt",
        "phones.hash": nil, "phones.key_id": nil, "phones.person_id": "account.id", "phones.sealed": "phone.number",
        "phones.other_hash": nil, "phones.other_key_id": nil,
        "phones.created_at": "phone.since", "phones.held_before": "phone.heldBeforeSeconds",
        "emails.hash": nil, "emails.key_id": nil, "emails.person_id": "account.id", "emails.sealed": "email.address",
        "emails.other_hash": nil, "emails.other_key_id": nil, "emails.linked_at": "email.linkedAt",
        "emails.last_used_at": "email.lastUsedAt", "emails.first_number_at": "email.firstNumberAt",
        "emails.first_number_by": "email.firstNumberBy", "emails.first_number_token_hash": nil,
        "emails.was_strongest": nil,
        "phone_aliases.person_id": "account.id", "phone_aliases.hash": nil, "phone_aliases.key_id": nil,
        "phone_aliases.other_hash": nil, "phone_aliases.other_key_id": nil,
        "phone_aliases.sealed": "formerPhone.number", "phone_aliases.taken_off_at": "formerPhone.takenOffAt",
        "phone_aliases.until": "formerPhone.recoversUntil", "phone_aliases.token_hash": nil,
        "phone_aliases.changed_by": "formerPhone.takenOffBy", "phone_aliases.held": "formerPhone.heldSeconds",
        "identities.hash": nil, "identities.key_id": nil, "identities.person_id": "account.id",
        "identities.provider": "identity.provider", "identities.sealed": "identity.subject",
        "identities.refresh_sealed": nil, "identities.linked_at": "identity.linkedAt",
        "identities.last_used_at": "identity.lastUsedAt", "identities.to_confirm_since": "identity.toConfirmSince",
        "devices.id": "device.id", "devices.person_id": "account.id", "devices.secret_hash": nil,
        "devices.name": "device.name", "devices.platform": "device.platform",
        "devices.push_token_sealed": "device.hasPushToken", "devices.created_at": "device.createdAt",
        "devices.last_used_at": "device.lastUsedAt", "devices.push_expired_at": "device.pushExpiredAt",
        "devices.removed_at": "device.removedAt", "devices.removed_by_device_id": "device.removedBy",
        "devices.removed_secret_hash": nil, "devices.language": "device.language",
        "replaced_push_tokens.id": "formerPushToken.id", "replaced_push_tokens.person_id": "account.id",
        "replaced_push_tokens.device_id": "formerPushToken.deviceId", "replaced_push_tokens.sealed": nil,
        "replaced_push_tokens.replaced_at": "formerPushToken.replacedAt",
        "sessions.id": "session.id", "sessions.person_id": "account.id", "sessions.device_id": "session.deviceId",
        "sessions.generation": nil, "sessions.created_at": "session.createdAt",
        "sessions.last_used_at": "session.lastUsedAt", "sessions.used_on": "session.lastUsedAt",
        "sessions.revoked_at": "session.endedAt",
        "sessions.access_id": nil, "sessions.used_generation": nil, "sessions.otp_at": "session.codeAt",
        "sessions.opened_by": "session.openedBy", "sessions.email_at": "session.codeAt", "sessions.app": "session.app",
        "challenges.id": "code.id", "challenges.phone_hash": nil, "challenges.phone_sealed": "code.number",
        "challenges.purpose": "code.purpose", "challenges.asker": nil, "challenges.address_hash": nil,
        "challenges.code_hash": nil, "challenges.state": "code.state", "challenges.wrong_tries": "code.wrongTries",
        "challenges.created_at": "code.createdAt", "challenges.expires_at": "code.expiresAt",
        "challenges.mailbox_hash": nil, "challenges.prefix_hash": nil, "challenges.site_hash": nil,
        "challenges.sent_at": "code.sentAt",
        "freezes.case_id": "freeze.caseId", "freezes.person_id": "account.id", "freezes.until": "freeze.until",
        "freezes.ended_at": "freeze.endedAt", "freezes.created_at": "freeze.createdAt",
        "freezes.applied_at": "freeze.appliedAt", "freezes.hold_until": "freeze.holdUntil",
        // These columns are about the claimant, who is another person.
        "freezes.begun": nil, "freezes.begun_sealed": nil, "freezes.claimant_hash": nil,
        "freezes.claimant_free_at": nil,
        "role_proposals.person_id": "account.id", "role_proposals.is_granted": "roleProposal.isGranted",
        "role_proposals.until": "roleProposal.until",
        // These columns are about the operator.
        "role_proposals.operator_name": nil, "role_proposals.operator_key": nil,
        "staff_notes.id": nil, "staff_notes.person_id": "account.id", "staff_notes.act": "staffNote.act",
        "staff_notes.note_sealed": "staffNote.note", "staff_notes.at": "staffNote.at",
        // This column names the author of the note.
        "staff_notes.staff": nil,
        // The person's audit trail is found by these columns.
        "pseudonyms.person_id": "act.act", "pseudonyms.key_sealed": nil,
    ]
    /// Somebody with a row in every table, and nothing left open in any.
    @Loop private func person(_ social: SocialStage) async throws -> Session {
        let auth = social.auth
        let first = try await auth.signIn(Self.old, push: "fcm:first")
        let (challenge, code) = try await auth.code(again: Self.old)
        let again = DeviceClaim(
            id: first.deviceId, secret: first.deviceSecret, name: "Pixel 9", platform: "android", pushToken: "fcm:next")
        _ = try await auth.ask(VerifyOTP(challengeId: challenge, code: code, device: again))
        let session = try await social.link("google", subject: "subject-108", to: Self.old)
        _ = try #require(try await social.session("google", subject: "subject-108"))
        let linking = SendEmailCode(email: Self.email, purpose: "link_email")
        let (link, proof) = try await auth.email(linking, as: social.actor(session))
        _ = try await auth.ask(LinkEmail(challengeId: link, code: proof), as: social.actor(session))
        let (change, digits) = try await social.changeCode(to: Self.new, by: session)
        _ = try await auth.ask(ChangePhone(challengeId: change, code: digits), as: social.actor(session))
        _ = try await social.changeCode(to: Self.third, by: session)
        try await social.waitUntilSent()
        let container = auth.stage.containers[0]
        let note = Secrets(container.keys).noteSealer.seal(Array("They wrote.".utf8), associated: session.user.id.array)
        try await container.database.transaction {
            StaffNoteStore.insert(note, of: session.user.id, act: "account_suspended", by: "p1", in: $0)
        }
        try await auth.stage.rows(
            """
            UPDATE devices SET removed_at = now(), removed_by_device_id = id, push_expired_at = now(), language = 'sv' WHERE id = '\(first.deviceId)';
            UPDATE sessions SET revoked_at = now() WHERE id = '\(first.sessionId)';
            UPDATE identities SET to_confirm_since = now();
            UPDATE emails SET first_number_at = now(), first_number_by = gen_random_uuid();
            UPDATE sessions SET app = 'pk_a' WHERE id = '\(first.sessionId)';
            INSERT INTO role_proposals (person_id, is_granted, operator_name, until)
                SELECT id, true, 'anna', now() + interval '1 day' FROM accounts;
            INSERT INTO freezes (case_id, person_id, until, ended_at, applied_at)
                SELECT gen_random_uuid(), id, now(), now(), now() FROM accounts
            """)
        return session
    }

    @Test func hasEveryColumn() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let session = try await person(social)
            let page = try await auth.ask(ExportAccount(after: nil), as: social.actor(session))
            #expect(page.next == nil)
            let records = try page.records.map { try JSONValue.parse(Array($0.utf8)) }
            func values(_ kind: String, _ member: String) -> [JSONValue] {
                records.filter { $0["kind"]?.stringValue == kind }.compactMap { $0[member] }.filter { $0 != .null }
            }

            let described = auth.stage.containers[0].sections.flatMap(\.columns).map { $0.prefix { $0 != "." } }
            let held = try await auth.stage.rows(
                """
                SELECT table_name || '.' || column_name FROM information_schema.columns
                WHERE table_schema = current_schema()
                    AND table_name = ANY ('{challenges,\(described.joined(separator: ","))}')
                """
            ).split(separator: "\n").map(String.init)
            #expect(
                Set(held).symmetricDifference(Self.columns.keys).sorted() == [], "nobody says what becomes of these")
            for (column, exported) in Self.columns {
                guard let parts = exported?.split(separator: ".").map(String.init) else { continue }
                #expect(!values(parts[0], parts[1]).isEmpty, "\(column) is not exported")
            }

            #expect(values("identity", "issuer") == [.string(IdentityForge.issuer("google"))])
            #expect(values("identity", "subject") == ["subject-108"])
            #expect(values("identity", "audience") == [.string(IdentityForge.audience)])
            #expect(values("formerPhone", "number") == [.string(Self.old)])
            #expect(Set(values("session", "openedBy")) == ["code", "google"])
            #expect(
                values("code", "address") == [.string(Self.email)]
                    && values("email", "address") == [.string(Self.email)])
            let numbers = Set(values("code", "number").compactMap(\.stringValue))
            #expect(numbers == [Self.old, Self.new, Self.third], "of before, of now, and one that was to be theirs")
            let text = page.records.joined()
            #expect(!text.contains("fcm:") && !text.contains("hash") && !text.contains("anna"))
        }
    }

    /// An address is sealed under another key than a number. Whoever recovered the account by it exports it, too.
    @Test func theExportHasCodesOfEveryPurposeSentToTheAddress() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let session = try await auth.signIn(byEmail: Self.email)
            let others = [
                SendEmailCode(email: Self.email, recovery: .init()),
                SendEmailCode(email: Self.email, undoes: "phone_change"),
            ]
            for request in others {
                try await auth.age("2 hours")
                _ = try await auth.email(request)
            }
            let records = try await auth.ask(ExportAccount(after: nil), as: social.actor(session)).records
            let codes = try records.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["kind"] == "code" }
            #expect(codes.compactMap { $0["address"] } == Array(repeating: .string(Self.email), count: 3))
        }
    }

    /// A number that left the account may belong to somebody else now. Codes to it are not exported.
    @Test func theExportLeavesOutCodesSentToAFormerNumberSince() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let session = try await person(social)
            func codes() async throws -> Int {
                try await auth.ask(ExportAccount(after: nil), as: social.actor(session)).records
                    .count { $0.contains(#""kind":"code""#) }
            }
            let before = try await codes()
            try await auth.stage.rows("UPDATE phone_aliases SET taken_off_at = taken_off_at - interval '1 hour'")
            try await auth.stage.rows("UPDATE challenges SET created_at = now() - interval '1 day'")
            _ = try await auth.signIn(Self.old)
            #expect(try await codes() == before)
        }
    }
}
