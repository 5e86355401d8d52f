import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import Languages
import TestSupport
import Testing

@testable import AuthService

@Suite("what auth tells recovery of a claim, and owners of it") struct RecoveryFactsTests {
    private static let (owner, claimant) = ("+14155552671", "+46701234567")

    @Loop private func claim(
        _ auth: AuthStage, of phone: String = owner, by claimant: String = claimant,
        device: DeviceClaim = AuthStage.device, identity: IdentityProof? = nil
    ) async throws -> RecoveryBegun {
        try await auth.age("2 hours")
        let (challenge, code) = try await auth.code(for: claimant, purpose: "recovery")
        let begin = BeginRecovery(
            caseID: .ordered(), accountPhone: phone, challengeID: challenge, code: code, device: device,
            freezeSeconds: 60, identity: identity)
        return try await auth.stage.asking(as: .recovery).call(begin, auth.options())
    }

    /// Ages the devices and linked identities by the length of a hold.
    @Loop private func ageAccount(_ auth: AuthStage) async throws {
        try await auth.stage.rows(
            """
            UPDATE devices SET created_at = created_at - interval '72 hours';
            UPDATE identities SET linked_at = linked_at - interval '72 hours'
            """)
    }

    @Test func theStrongestProofCounts() {
        #expect(RecoveryProof.strongest(of: [.formerNumber, .linkedIdentity, .device]) == .device)
        #expect(RecoveryProof.strongest(of: [.formerNumber, .linkedIdentity]) == .linkedIdentity)
        #expect(RecoveryProof.strongest(of: []) == nil)
    }

    @Test func aStrangersClaimHasNoProof() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.owner)
            let begun = try await claim(auth)
            #expect(begun.proof == nil && begun.isStaff == false && begun.platform == "android")
            #expect(begun.hasRecentSignIn == true)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '1 day'")
            #expect(try await claim(auth).hasRecentSignIn == false)
            try await auth.stage.rows("UPDATE accounts SET role = 'staff'")
            #expect(try await claim(auth).isStaff == true)
            let nobody = try await claim(auth, of: "+14155552672")
            #expect(nobody.accountID == nil && nobody.hasRecentSignIn == nil && nobody.proof == nil)
        }
    }

    @Test("an account that was not used for long sleeps", arguments: [true, false])
    func dormancy(isOn: Bool) async throws {
        try await AuthStage.run(environment: isOn ? ["AUTH_DORMANT_AFTER": "720h"] : [:]) { auth in
            _ = try await auth.signIn(Self.owner)
            #expect(try await claim(auth).isDormant == false)
            for table in ["devices", "sessions"] {
                try await auth.stage.rows("UPDATE \(table) SET last_used_at = last_used_at - interval '721 hours'")
            }
            #expect(try await claim(auth).isDormant == false, "the number is younger")
            try await auth.stage.rows("UPDATE phones SET created_at = created_at - interval '721 hours'")
            #expect(try await claim(auth).isDormant == isOn)
            #expect(try await claim(auth, of: "+14155552672").isDormant == nil)
        }
    }

    @Test func aKnownDeviceAndAFormerNumberAreProofs() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.owner)
            let known = DeviceClaim(
                id: session.deviceId, secret: session.deviceSecret, name: "Pixel 9", platform: "android")
            #expect(try await claim(auth, device: known).proof == nil, "it came a moment ago")
            try await ageAccount(auth)
            #expect(try await claim(auth, device: known).proof == "device")
            // A thief who only reads the person's emails has a device too, so such a device proves nothing.
            try await auth.stage.rows("UPDATE sessions SET otp_at = NULL, email_at = created_at")
            #expect(try await claim(auth, device: known).proof == nil)
            try await auth.stage.rows("UPDATE sessions SET otp_at = created_at, email_at = NULL")
            var guess = known
            guess.secret = "ds_guess"
            #expect(try await claim(auth, device: guess).proof == nil)
            let other = try await auth.signIn("+14155552673")
            guess = DeviceClaim(id: other.deviceId, secret: other.deviceSecret, name: "x", platform: "web")
            #expect(try await claim(auth, device: guess).proof == nil, "another account's device")
            try await auth.stage.rows(
                """
                INSERT INTO phone_aliases (person_id, hash, key_id, sealed, until, held)
                SELECT '\(session.user.id)', phone_hash, 'k', '', now() + interval '1 day', '72 hours' FROM challenges
                WHERE purpose = 'recovery' LIMIT 1
                """)
            #expect(try await claim(auth).proof == "former_number")
            for held in ["'71:59:59'", "NULL"] {
                try await auth.stage.rows("UPDATE phone_aliases SET held = \(held)")
                #expect(try await claim(auth).proof == nil, "\(held)")
            }
            try await auth.stage.rows("UPDATE phone_aliases SET held = '72 hours'")
            try await auth.stage.rows("UPDATE phone_aliases SET until = now()")
            #expect(try await claim(auth).proof == nil)
        }
    }

    /// The age of a number counts from its first day in the account, even if it was moved out and back.
    @Test func aNumberMovedOutAndBackKeepsItsAge() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let (thiefs, third) = ("+46701230001", "+46701230002")
            var session = try await auth.signIn(Self.owner)
            try await auth.stage.rows("UPDATE phones SET created_at = created_at - interval '72 hours'")
            for number in [thiefs, Self.owner, third] {
                let (challenge, code) = try await social.changeCode(to: number, by: session)
                _ = try await auth.ask(ChangePhone(challengeId: challenge, code: code), as: auth.actor(session))
                try await auth.age("2 hours")
                session = try await auth.signIn(number)
            }
            #expect(try await claim(auth, of: third, by: Self.owner).proof == "former_number")
            #expect(try await claim(auth, of: third, by: thiefs).proof == nil, "it was there for a moment")
            // If a number is given back, its age does not start again.
            try await auth.stage.rows(
                "DELETE FROM freezes; UPDATE devices SET created_at = created_at - interval '9 days'")
            let device = SendOTP.Proof(id: session.deviceId, secret: try #require(session.deviceSecret))
            try await auth.age("2 hours")
            let (challenge, code, _) = try await auth.sms(SendOTP(phone: Self.owner, undoes: "phone_change"))
            _ = try await auth.ask(UndoPhoneChange(challengeId: challenge, code: code, device: device))
            #expect(try await auth.stage.rows("SELECT held_before >= '72 hours' FROM phones") == "t")
        }
    }

    /// A sign-in by a linked identity makes the device known to the account. The device is then the proof.
    @Test func aSignInByALinkedIdentityIsAProof() async throws {
        try await SocialStage.run { social in
            _ = try await social.link("google", subject: "108", to: Self.owner)
            let fresh = DeviceClaim(name: "Pixel 10", platform: "android")
            guard case .session(let session) = try await social.signIn("google", subject: "108", device: fresh) else {
                Issue.record("it is not linked")
                return
            }
            try await ageAccount(social.auth)
            #expect(try await claim(social.auth).proof == nil)
            let known = DeviceClaim(
                id: session.deviceId, secret: session.deviceSecret, name: "Pixel 10", platform: "android")
            #expect(try await claim(social.auth, device: known).proof == "device")
        }
    }

    @Loop private func shown(_ provider: String, _ subject: String, _ social: SocialStage) async throws -> IdentityProof
    {
        let nonce = try await social.nonce(provider)
        return IdentityProof(
            provider: provider, identityToken: social.forge.token(provider, subject: subject, nonce: nonce),
            nonce: nonce)
    }

    /// An identity that is not linked to this account gets a stranger's answer.
    @Test("a linked identity is a proof", arguments: ["google", "apple"])
    func linkedIdentity(provider: String) async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await social.link(provider, subject: "108", to: Self.owner)
            _ = try await social.link(provider, subject: "109", to: "+14155552673")
            let young = try await claim(auth, identity: try await shown(provider, "108", social))
            #expect(young.accountID == owner.user.id && young.proof == nil, "it was linked a moment ago")
            try await ageAccount(auth)
            let mine = try await claim(auth, identity: try await shown(provider, "108", social))
            #expect(mine.accountID == owner.user.id && mine.proof == "linked_identity")
            for subject in ["109", "110"] {
                let strange = try await claim(auth, identity: try await shown(provider, subject, social))
                #expect(strange.accountID == owner.user.id && strange.proof == nil)
                let nobodys = try await claim(
                    auth, of: "+14155552672", identity: try await shown(provider, subject, social))
                #expect(nobodys.accountID == nil && nobodys.proof == nil)
            }
            // Linked before a recovery, it proves nothing until its owner confirms it.
            try await auth.stage.rows("UPDATE identities SET to_confirm_since = now()")
            #expect(try await claim(auth, identity: try await shown(provider, "108", social)).proof == nil)
        }
    }

    @Test func anIdentityTokenProvesOnceAndAForgedOneNever() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            _ = try await social.link("google", subject: "108", to: Self.owner)
            try await ageAccount(auth)
            let proof = try await shown("google", "108", social)
            #expect(try await claim(auth, identity: proof).proof == "linked_identity")
            var forged = try await shown("google", "108", social)
            forged.identityToken += "A"
            for (identity, phone) in [(proof, Self.owner), (forged, Self.owner), (forged, "+14155552672")] {
                let refused = await #expect(throws: BusError.self) {
                    try await claim(auth, of: phone, identity: identity)
                }
                #expect(refused?.code == "identity_token_invalid")
            }
        }
    }

    @Test func aCodeCompletesOnlyTheCaseItWasRequestedFor() async throws {
        try await AuthStage.run { auth in
            let others = "+14155552672"
            for phone in [Self.owner, others] { _ = try await auth.signIn(phone) }
            let mine = try await claim(auth).caseID
            func complete(_ recovery: Identifier, named: Identifier?) async throws -> String {
                try await auth.age("2 hours")
                try await auth.endHolds()
                let known = auth.spool.codes(for: Self.claimant).count
                let sent = try await auth.ask(
                    SendOTP(phone: Self.claimant, purpose: "recovery", recoveryId: named))
                let code = try await auth.spool.code(for: Self.claimant, after: known)
                let apply = ApplyRecovery(
                    caseID: recovery, challengeID: sent.challengeId, code: code, device: AuthStage.device)
                do {
                    return try await auth.stage.asking(as: .recovery).call(apply, auth.options()).session.user.id
                        .description
                } catch let error as BusError {
                    return error.code
                }
            }
            #expect(try await complete(mine, named: .ordered()) == "otp_expired")
            let second = try await claim(auth, of: others).caseID
            #expect(try await complete(mine, named: nil) == "otp_expired", "which of the two?")
            #expect(try await complete(mine, named: second) == "otp_expired")

            // A code that is for completing a case does not begin one either.
            try await auth.age("2 hours")
            let known = auth.spool.codes(for: Self.claimant).count
            let sent = try await auth.ask(SendOTP(phone: Self.claimant, purpose: "recovery", recoveryId: mine))
            let code = try await auth.spool.code(for: Self.claimant, after: known)
            let text = auth.spool.messages().last?["body"]?.stringValue ?? ""
            #expect(text.contains("to complete the recovery of an account"))
            let begin = BeginRecovery(
                caseID: .ordered(), accountPhone: Self.owner, challengeID: sent.challengeId, code: code,
                device: AuthStage.device, freezeSeconds: 60)
            #expect(try await auth.refusal(of: begin, from: .recovery).code == "otp_expired")
            let login = SendOTP(phone: "+14155552674", recoveryId: mine)
            #expect(try await auth.refusal(of: login).code == "validation_failed")

            let person = try await auth.stage.rows("SELECT person_id FROM freezes WHERE case_id = '\(mine)'")
            #expect(try await complete(mine, named: mine) == person)
        }
    }

    @Test func theOnlyCaseOfANumberNeedsNoName() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner).user.id
            let mine = try await claim(auth).caseID
            try await auth.age("2 hours")
            try await auth.endHolds()
            let (challenge, code) = try await auth.code(for: Self.claimant, purpose: "recovery")
            let apply = ApplyRecovery(caseID: mine, challengeID: challenge, code: code, device: AuthStage.device)
            let moved = try await auth.stage.asking(as: .recovery).call(apply, auth.options())
            #expect(moved.session.user.id == owner)
        }
    }

    @Test("the number is notified too, unless a claimant holds it", arguments: [false, true])
    func sms(isHeldByClaimant: Bool) async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.owner)
            let begun = try await claim(auth)
            let references = isHeldByClaimant ? [begun.accountReference] : [begun.claimantReference]
            let event = NotifyPerson(
                notificationID: .ordered(), personID: session.user.id, personSequence: 1, kind: "recovery_requested",
                data: [
                    "disputeToken": "dt_0123456789", "claimantPhone": "+46 (***) ***-4567", "platform": "ios",
                    "requestedAt": "2026-02-20T09:00:00Z", "recentSignIn": "true",
                ], smsUnlessHeldBy: references)
            let known = auth.spool.count(for: Self.owner)
            for _ in 0..<2 { _ = try await auth.stage.asking(as: .recovery).call(event, auth.options()) }
            try #require(
                try await eventually {
                    try await auth.stage.rows("SELECT count(*) FROM outbox WHERE destination = 'sms'") == "0"
                })
            #expect(auth.spool.count(for: Self.owner) - known == (isHeldByClaimant ? 0 : 1))
        }
    }

    @Test func theNoticeNamesTheClaimItsTimeAndTheRemedy() {
        let data = [
            "claimantPhone": "+46 (***) ***-4567", "platform": "ios", "requestedAt": "2026-02-20T09:00:00Z",
            "recentSignIn": "true", "disputeToken": "dt_0123", "recoveryId": "0190a5b0-7c1e-7000-8000-000000000001",
        ]
        #expect(
            NotificationText.message(kind: "recovery_requested", data: data, appName: "Vestibule").english
                == "Somebody with the number +46 (***) ***-4567 asked on 2026-02-20 at 09:00 UTC from an iPhone or iPad to "
                + "recover your Vestibule account. Somebody signed in by its number within the last day. If it was not you, "
                + "say so now and nothing will change. What stops it: dt_0123 Recovery: 0190a5b0-7c1e-7000-8000-000000000001"
        )
        #expect(
            NotificationText.message(kind: "recovery_requested", data: data, appName: "Vestibule").text(
                in: .named("sv"))
                == "Någon med numret +46 (***) ***-4567 begärde den 2026-02-20 kl. 09:00 UTC från en iPhone eller iPad att få "
                + "återställa ditt Vestibule-konto. Någon loggade in med dess nummer under det senaste dygnet. Om det inte var "
                + "du, säg det nu så ändras ingenting. Så stoppas det: dt_0123 Återställning: 0190a5b0-7c1e-7000-8000-000000000001"
        )
        let many = data.merging(["recoveryIds": "a b c"]) { $1 }
        #expect(
            NotificationText.text(kind: "recovery_last_hour", data: many, appName: "Vestibule").body.english.hasPrefix(
                "Somebody with the number +46 (***) ***-4567 and 2 others asked to recover your Vestibule account."))
        for kind in [
            "requested", "reminder", "last_hour", "disputed", "contested", "cancelled", "expired", "approved",
            "rejected",
            "completed", "lock_on", "lock_off",
        ] {
            let (title, body) = NotificationText.text(kind: "recovery_\(kind)", data: [:], appName: "Vestibule")
            #expect(title.english != "Vestibule" && body.english.contains("Vestibule account"), "\(kind)")
            #expect(body.text(in: .named("sv")).contains("Vestibule-konto"), "\(kind)")
        }
    }
}
