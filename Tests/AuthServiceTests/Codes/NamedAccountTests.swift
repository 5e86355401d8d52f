import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import AuthService

/// What the SMS says about the purpose of its code, and what the code can do.
@Suite("codes that name what they are for") struct NamedAccountTests {
    private static let (owner, claimant, nobody) = ("+14155552671", "+46701234567", "+14155550100")

    /// - Returns: the account that was found, or the code of the refusal.
    @Loop private func begin(
        _ sms: (challenge: Identifier, code: String, text: String), of phone: String, _ auth: AuthStage
    ) async throws -> String {
        let begin = BeginRecovery(
            caseID: .ordered(), accountPhone: phone, challengeID: sms.challenge, code: sms.code,
            device: AuthStage.device, freezeSeconds: 60)
        do {
            return try await auth.stage.asking(as: .recovery).call(begin, auth.options()).accountID?.description
                ?? "none"
        } catch let error as BusError {
            return error.code
        }
    }

    /// As the request for the code named it, whether the account exists or not.
    @Test func aRecoverysSMSNamesTheAccountAndItsCodeBeginsNoOtherClaim() async throws {
        try await AuthStage.run { auth in
            let person = try await auth.signIn(Self.owner).user.id
            for (named, spelled) in [(Self.owner, "001 (415) 555-2671"), (Self.nobody, Self.nobody)] {
                try await auth.age("2 hours")
                let sms = try await auth.sms(
                    SendOTP(phone: Self.claimant, purpose: "recovery", accountPhone: spelled))
                let words = "\(sms.code) is your Vestibule code to recover the account ending \(named.suffix(4))."
                #expect(sms.text.hasPrefix(words))
                let other = named == Self.owner ? Self.nobody : Self.owner
                #expect(try await begin(sms, of: other, auth) == "otp_expired")
                #expect(try await begin(sms, of: named, auth) == (named == Self.owner ? person.description : "none"))
            }
            try await auth.age("2 hours")
            let plain = try await auth.sms(SendOTP(phone: Self.claimant, purpose: "recovery"))
            #expect(plain.text.contains("to recover an account."))
            #expect(try await begin(plain, of: Self.owner, auth) == person.description)
        }
    }

    @Test func aCodeThatNamesAnotherAccountCompletesNoRecovery() async throws {
        try await AuthStage.run { auth in
            let person = try await auth.signIn(Self.owner).user.id
            let first = try await auth.sms(SendOTP(phone: Self.claimant, purpose: "recovery"))
            let begin = BeginRecovery(
                caseID: .ordered(), accountPhone: Self.owner, challengeID: first.challenge, code: first.code,
                device: AuthStage.device, freezeSeconds: 60)
            _ = try await auth.stage.asking(as: .recovery).call(begin, auth.options())
            try await auth.endHolds()
            for named in [Self.nobody, Self.owner] {
                try await auth.age("2 hours")
                let sms = try await auth.sms(
                    SendOTP(
                        phone: Self.claimant, purpose: "recovery", recoveryId: begin.caseID, accountPhone: named))
                #expect(sms.text.contains("to complete the recovery of the account ending \(named.suffix(4))."))
                let apply = ApplyRecovery(
                    caseID: begin.caseID, challengeID: sms.challenge, code: sms.code, device: AuthStage.device)
                if named == Self.nobody {
                    #expect(try await auth.refusal(of: apply, from: .recovery).code == "otp_expired")
                } else {
                    let moved = try await auth.stage.asking(as: .recovery).call(apply, auth.options())
                    #expect(moved.session.user.id == person)
                }
            }
        }
    }

    @Test func membersThatContradictThePurposeAreRefused() async throws {
        try await AuthStage.run { auth in
            for request in [
                SendOTP(phone: Self.claimant, accountPhone: Self.owner),
                SendOTP(phone: Self.claimant, purpose: "recovery", undoes: "phone_change"),
                SendOTP(phone: Self.claimant, linkToken: "lk_0123", undoes: "phone_change"),
                SendOTP(phone: Self.claimant, accountPhone: Self.owner, undoes: "phone_change"),
            ] {
                let refused = try await auth.refusal(of: request)
                #expect(refused.code == "validation_failed")
            }
            let malformed = SendOTP(phone: Self.claimant, purpose: "recovery", accountPhone: "+1 415 555")
            let refused = try await auth.refusal(of: malformed)
            #expect(refused.code == "invalid_phone")
        }
    }

    // MARK: Another number

    private func verify(_ sms: (challenge: Identifier, code: String, text: String)) -> VerifyOTP {
        VerifyOTP(challengeId: sms.challenge, code: sms.code, device: AuthStage.device)
    }

    @Test func aReplacingRequestVoidsTheFirstNumbersCode() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.sms(SendOTP(phone: Self.owner))
            let second = try await auth.sms(SendOTP(phone: Self.claimant, replaces: first.challenge))
            #expect(try await auth.refusal(of: verify(first)).code == "otp_expired")
            #expect(try await auth.ask(verify(second)).isNewUser)
        }
    }

    /// Knowing the id of a challenge is not enough to void it.
    @Test func aStrangerCannotVoidACode() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.sms(SendOTP(phone: Self.owner))
            _ = try await auth.sms(SendOTP(phone: Self.claimant, replaces: first.challenge), at: "198.51.100.9")
            _ = try await auth.sms(SendOTP(phone: Self.nobody, replaces: .ordered()))
            #expect(try await auth.ask(verify(first)).isNewUser)
        }
    }

    /// From wherever it asks; and nobody beside it at its address does.
    @Test func aDeviceCanVoidItsOwnCodeFromAnyAddress() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.owner)
            let device = SendOTP.Proof(id: session.deviceId, secret: try #require(session.deviceSecret))
            try await auth.age("2 minutes")
            let first = try await auth.sms(SendOTP(phone: Self.owner, device: device))
            _ = try await auth.sms(SendOTP(phone: Self.claimant, replaces: first.challenge))
            let open = "SELECT state FROM challenges WHERE id = '\(first.challenge)'"
            #expect(try await auth.stage.rows(open) == "open")
            _ = try await auth.sms(
                SendOTP(phone: Self.nobody, device: device, replaces: first.challenge), at: "198.51.100.9")
            #expect(try await auth.stage.rows(open) == "superseded")
        }
    }
}
