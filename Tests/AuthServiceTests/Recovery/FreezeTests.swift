import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// What auth keeps of recovery cases, and for how long.
@Suite("freezes") struct FreezeTests {
    private static let (owner, claimant) = ("+14155552671", "+46701234567")

    private struct Claim {
        let begin: BeginRecovery
        let begun: RecoveryBegun
    }

    @Loop private func claim(
        _ auth: AuthStage, of phone: String = owner, by claimant: String = claimant
    ) async throws -> Claim {
        try await auth.age("2 hours")
        let (challenge, code) = try await auth.code(for: claimant, purpose: "recovery")
        let begin = BeginRecovery(
            caseID: .ordered(), accountPhone: phone, challengeID: challenge, code: code,
            device: AuthStage.device, freezeSeconds: 86_400)
        return Claim(begin: begin, begun: try await auth.stage.asking(as: .recovery).call(begin, auth.options()))
    }

    /// - Parameter waits: the claimant is shown a case that goes on.
    @Loop private func close(_ claim: Claim, _ person: Identifier, waits: Bool, _ auth: AuthStage) async throws {
        let closed = CaseClosed(
            personID: person, personSequence: 1, caseID: claim.begin.caseID, outcome: "disputed", closedAt: .now(),
            claimantWaits: waits ? true : nil)
        _ = try await auth.stage.asking(as: .recovery).call(closed, auth.options())
    }

    /// With a code for the claimant's number.
    @Loop private func complete(_ claim: Claim, _ auth: AuthStage) async throws -> Session {
        try await auth.age("20 minutes")
        try await auth.endHolds()
        let (challenge, code) = try await auth.code(for: Self.claimant, purpose: "recovery")
        let apply = ApplyRecovery(
            caseID: claim.begin.caseID, challengeID: challenge, code: code, device: AuthStage.device)
        return try await auth.stage.asking(as: .recovery).call(apply, auth.options()).session
    }

    @Test func theStoredReplyToRecoveryIsSealed() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.owner)
            let claim = try await claim(auth)
            let dump = try await auth.stage.rows("SELECT freezes::text, encode(begun_sealed, 'escape') FROM freezes")
            #expect(!dump.contains(claim.begun.maskedClaimantPhone) && !dump.contains(claim.begun.claimantReference))
            let recovery = try auth.stage.asking(as: .recovery)
            #expect(try await recovery.call(claim.begin, auth.options()) == claim.begun)
        }
    }

    @Test func aStoredReplyOfThePreviousReleaseIsStillRead() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner)
            let claim = try await claim(auth)
            let text = String(decoding: try WireJSON.encode(claim.begun), as: UTF8.self)
            try await auth.stage.rows("UPDATE freezes SET begun = '\(text)', begun_sealed = NULL")
            let recovery = try auth.stage.asking(as: .recovery)
            #expect(try await recovery.call(claim.begin, auth.options()) == claim.begun)
            #expect(try await complete(claim, auth).user.id == owner.user.id)
        }
    }

    /// While a claim waits for the account, a change of the number is undone. The undo removes the former numbers that
    /// the thief added.
    @Test func aFormerNumberDroppedDuringAClaimReachesNoAccount() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner).user.id
            try await auth.stage.rows(
                """
                WITH gone AS (DELETE FROM phones RETURNING *)
                INSERT INTO phone_aliases (person_id, hash, key_id, other_hash, other_key_id, sealed, until)
                SELECT person_id, hash, key_id, other_hash, other_key_id, sealed, now() + interval '1 day' FROM gone
                """)
            let made = try await auth.stage.containers[0].database.transaction { transaction in
                AccountStore.lock(owner, in: transaction)
                _ = try await transaction.query("SELECT 1 AS one")
                let made = Loop.spawn { try await patiently { try await claim(auth) } }
                #expect(try await auth.isWaited(for: transaction))
                PhoneStore.dropAliases(of: owner, in: transaction)
                return made
            }
            #expect(try await made.value.begun.accountID == nil)
        }
    }

    @Test func goThirtyDaysAfterTheirEnd() async throws {
        try await AuthStage.run { auth in
            let old = Identifier.ordered()
            try await auth.stage.rows(
                """
                INSERT INTO freezes (case_id, until) VALUES ('\(old)', now() - interval '30 days'),
                    (gen_random_uuid(), now() - interval '29 days'), (gen_random_uuid(), now() + interval '1 day')
                """)
            let container = auth.stage.containers[0]
            try await Housekeeping.run(container.database, audit: container.audit)
            #expect(try await auth.stage.rows("SELECT count(*) FROM freezes") == "2")
            #expect(try await auth.stage.rows("SELECT count(*) FROM freezes WHERE case_id = '\(old)'") == "0")
        }
    }

    @Test func endedFreezesGoWithTheirClaimantsAccount() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(Self.owner)
            let claim = try await claim(auth)
            try await close(claim, owner.user.id, waits: false, auth)
            try await auth.age("20 minutes")
            let claimant = try await auth.signIn(Self.claimant)
            #expect(claimant.isNewUser)
            let hash = try await auth.stage.rows(
                "SELECT encode(hash, 'hex') FROM phones WHERE person_id = '\(claimant.user.id)'")
            let held = "SELECT count(*) FROM freezes WHERE claimant_hash = '\\x\(hash)'"
            #expect(try await auth.stage.rows(held) == "1")
            _ = try await auth.ask(DeleteAccount(), as: social.actor(claimant))
            #expect(try await auth.stage.rows(held) == "0")
        }
    }

    /// A claimant's number may be a former number of a person who deletes their account. The claimed account stays
    /// frozen.
    @Test("freezes stay while a claim is open or its claimant still waits", arguments: [true, false])
    func stay(isOpen: Bool) async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(Self.owner)
            let other = try await auth.signIn("+14155552679")
            let claim = try await claim(auth)
            if !isOpen { try await close(claim, owner.user.id, waits: true, auth) }
            try await auth.stage.rows(
                """
                INSERT INTO phone_aliases (person_id, hash, key_id, sealed, until)
                SELECT '\(other.user.id)', claimant_hash, 'k', '', now() + interval '1 day' FROM freezes
                """)
            _ = try await auth.ask(DeleteAccount(), as: social.actor(other))
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts") == "1")
            #expect(try await auth.stage.rows("SELECT count(*) FROM freezes") == "1")
        }
    }

    /// A thief with the SIM had the number when the account's owner recovered it, and had given the account others before.
    @Test func numbersFromBeforeARecoveryNeitherProveNorReachTheAccount() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn("+14155552672")
            let (challenge, code) = try await social.changeCode(to: Self.owner, by: owner)
            _ = try await auth.ask(ChangePhone(challengeId: challenge, code: code), as: auth.actor(owner))
            #expect(try await auth.stage.rows("SELECT count(*) FROM phone_aliases") == "1")
            #expect(try await complete(try await claim(auth), auth).user.id == owner.user.id)
            #expect(try await auth.stage.rows("SELECT count(*) FROM phone_aliases") == "0")
            for thief in [Self.owner, "+14155552672"] {
                let contest = try await claim(auth, of: Self.claimant, by: thief)
                #expect(contest.begun.accountID == owner.user.id && contest.begun.proof == nil)
                #expect(try await claim(auth, of: thief, by: "+14155552673").begun.accountID == nil)
            }
        }
    }

    /// The claimant already has the number, so it stays. Former numbers that sessions added before are removed.
    @Test func aRecoveryThatMovesNoNumberDropsFormerOnes() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(Self.owner)
            let (challenge, code) = try await social.changeCode(to: Self.claimant, by: owner)
            _ = try await auth.ask(ChangePhone(challengeId: challenge, code: code), as: auth.actor(owner))
            #expect(try await complete(try await claim(auth), auth).user.id == owner.user.id)
            #expect(try await auth.stage.rows("SELECT count(*) FROM phone_aliases") == "0")
        }
    }

    /// Two claimed, and reviewers approved both.
    @Test func aClaimFromBeforeARecoveryCannotMoveTheAccount() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner)
            let (first, second) = (try await claim(auth), try await claim(auth, by: "+46701234568"))
            #expect(try await complete(first, auth).user.id == owner.user.id)
            try await auth.age("20 minutes")
            let (challenge, code) = try await auth.code(for: "+46701234568", purpose: "recovery")
            let apply = ApplyRecovery(
                caseID: second.begin.caseID, challengeID: challenge, code: code, device: AuthStage.device)
            #expect(try await auth.refusal(of: apply, from: .recovery).code == "recovery_closed")
            #expect(try await auth.stage.rows("SELECT count(*) FROM freezes WHERE applied_at IS NOT NULL") == "1")
            // A claim that comes after it is judged by itself.
            let third = try await claim(auth, of: Self.claimant, by: "+46701234569")
            try await auth.endHolds()
            try await auth.age("20 minutes")
            let (last, digits) = try await auth.code(for: "+46701234569", purpose: "recovery")
            let moved = ApplyRecovery(
                caseID: third.begin.caseID, challengeID: last, code: digits, device: AuthStage.device)
            let session = try await auth.stage.asking(as: .recovery).call(moved, auth.options()).session
            #expect(session.user.id == owner.user.id)
        }
    }

    /// Auth checks the code before it says that a case is closed. This holds for a decoy that looks approved, and for a
    /// disputed claim.
    @Test("a case that opens nothing is shown as closed only to a right code", arguments: [false, true])
    func nothingToOpen(isDisputed: Bool) async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner)
            let claim = try await claim(auth, of: isDisputed ? Self.owner : "+14155552679")
            if isDisputed { try await close(claim, owner.user.id, waits: true, auth) }
            try await auth.age("20 minutes")
            let (challenge, code) = try await auth.code(for: Self.claimant, purpose: "recovery")
            var apply = ApplyRecovery(
                caseID: claim.begin.caseID, challengeID: challenge, code: code, device: AuthStage.device)
            #expect(try await auth.refusal(of: apply, from: .recovery).code == "recovery_not_ready")
            try await auth.endHolds()
            apply.code = AuthStage.wrong(code)
            #expect(try await auth.refusal(of: apply, from: .recovery).code == "otp_invalid")
            apply.code = code
            #expect(try await auth.refusal(of: apply, from: .recovery).code == "recovery_closed")
            #expect(try await auth.refusal(of: apply, from: .recovery).code == "otp_expired", "it works once")
            #expect(try await auth.stage.rows("SELECT count(*) FROM freezes WHERE applied_at IS NOT NULL") == "0")
        }
    }

    @Test func aRecoveryDropsTheRole() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner)
            try await auth.stage.rows("UPDATE accounts SET role = 'staff'")
            #expect(try await complete(try await claim(auth), auth).user.id == owner.user.id)
            #expect(try await auth.stage.rows("SELECT role FROM accounts") == "user")
            #expect(
                try await auth.stage.rows("SELECT details FROM audit WHERE act = 'role_dropped'")
                    == #"{"role":"staff","why":"recovered"}"#)
        }
    }

    /// They may be a thief's.
    @Test func aRecoveredAccountsIdentitiesMustBeLinkedAgain() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await social.link("google", subject: "108", to: Self.owner)
            let recovered = try await complete(try await claim(auth), auth)
            #expect(recovered.user.id == owner.user.id)
            let listed = try await auth.ask(ListIdentities(), as: auth.actor(recovered)).identities
            #expect(listed.map(\.toConfirm) == [true])
            // It opens nothing: what it is offered is to be linked.
            let token = try await social.linkToken("google", subject: "108")
            #expect(try await auth.stage.rows("SELECT count(*) FROM sessions WHERE opened_by = 'google'") == "0")
            // The two days after a recovery in which the account cannot be changed are over.
            try await auth.stage.rows("DELETE FROM freezes")
            let (challenge, code, _) = try await social.linkCode(token, to: Self.claimant)
            let verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device, confirmLink: true)
            #expect(try await auth.ask(verify).user.id == owner.user.id)
            #expect(try await social.session("google", subject: "108")?.user.id == owner.user.id)
        }
    }

    /// A number that was to be the person's, and never was.
    @Test func aNumberRequestedByADeletedPersonIsErased() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(Self.owner)
            let (challenge, _) = try await social.changeCode(to: Self.claimant, by: owner)
            let hash = try await auth.stage.rows(
                "SELECT encode(phone_hash, 'hex') FROM challenges WHERE id = '\(challenge)'")
            _ = try await auth.ask(DeleteAccount(), as: social.actor(owner))
            let known = "SELECT count(*) FROM challenges WHERE phone_sealed <> '' OR phone_hash = '\\x\(hash)'"
            #expect(try await auth.stage.rows(known) == "0")
            let limited = await #expect(throws: BusError.self) {
                try await auth.ask(SendOTP(phone: Self.claimant))
            }
            #expect(limited?.code == "rate_limited", "what was sent to it goes on counting")
        }
    }
}
