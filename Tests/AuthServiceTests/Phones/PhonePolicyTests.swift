import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import ServiceRuntime
import TestSupport
import Testing

@testable import AuthService

@Suite("which numbers are served") struct PhonePolicyTests {
    private static let (american, swede, german) = ("+14155552671", "+46701234567", "+4915112345678")

    @Test(
        "an empty list serves all countries in development alone",
        arguments: [
            ([], .development, [american, swede, german]), ([], .staging, []), ([], .production, []),
            (["*"], .development, [american, swede, german]), (["*"], .production, [american, swede, german]),
            (["SE"], .development, [swede]), (["SE"], .production, [swede]),
            (["DE", "US"], .staging, [american, german]),
            (["US", "US"], .production, [american]), (["CA"], .production, []), (["XK"], .production, []),
        ] as [([String], DeploymentProfile, [String])])
    func list(countries: [String], profile: DeploymentProfile, served: [String]) throws {
        let policy = try PhonePolicy(countries: countries, profile: profile)
        for text in [Self.american, Self.swede, Self.german] {
            if served.contains(text) {
                #expect(try policy.number(text) == PhoneNumber(text))
            } else {
                #expect(throws: PhoneError.countryNotServed) { try policy.number(text) }
            }
        }
        #expect(throws: PhoneError.notValid) { try policy.number("+1 415 555") }
    }

    @Test("a list that is wrong stops the start", arguments: [["SV", "SW"], ["se"], ["46"], ["SE", "*"], ["Sweden"]])
    func wrong(countries: [String]) throws {
        let error = try #require(
            #expect(throws: ConfigurationError.self) {
                try PhonePolicy(countries: countries, profile: .development)
            })
        #expect(error.description.hasPrefix("AUTH_SMS_COUNTRIES: \"\(countries.last { $0 != "SE" } ?? "")\""))
    }

    @Test func theVariableIsReadAndChecked() async throws {
        await #expect(throws: ConfigurationError.self) {
            try await AuthStage.run(environment: ["AUTH_SMS_COUNTRIES": "SE,Sweden"]) { _ in }
        }
        try await AuthStage.run(environment: ["AUTH_SMS_COUNTRIES": " SE , DE "]) { auth in
            _ = try await auth.code(for: Self.swede)
            #expect(try await auth.refusal(of: SendOTP(phone: Self.american)) == PhoneError.countryNotServed.busError)
        }
        try await AuthStage.run(environment: ["VESTIBULE_PROFILE": "staging"]) { auth in
            let refused = try await auth.refusal(of: SendOTP(phone: Self.swede))
            #expect(refused == PhoneError.countryNotServed.busError)
            #expect(try await auth.stage.rows("SELECT count(*) FROM challenges") == "0")
        }
    }

    @Test func anUnservedCountryDoesNotRevealAccounts() async throws {
        try await AuthStage.run(environment: ["AUTH_SMS_COUNTRIES": "US"]) { auth in
            // An account from when its country was served.
            _ = try await auth.signIn(Self.american)
            let hash = Secrets(auth.stage.containers[0].keys).phoneHash.code(for: Self.swede)
            try await auth.stage.rows("UPDATE phones SET hash = '\\x\(Hex.encode(hash))'")
            let claimant = "+14155552672"
            let (challenge, code) = try await auth.code(for: claimant, purpose: "recovery")
            for phone in [Self.swede, "+46701234568"] {
                for purpose in ["login", "recovery"] {
                    let refused = try await auth.refusal(of: SendOTP(phone: phone, purpose: purpose))
                    #expect(refused == PhoneError.countryNotServed.busError)
                }
                // With a code that is wrong too, which is not even counted.
                for guess in [code, AuthStage.wrong(code)] {
                    let refused = try await auth.refusal(
                        of: Self.claim(of: phone, challenge, guess), from: .recovery)
                    #expect(refused == PhoneError.countryNotServed.busError)
                }
            }
            #expect(try await auth.stage.rows("SELECT count(*), max(wrong_tries) FROM challenges") == "2|0")
            #expect(try await auth.stage.rows("SELECT count(*) FROM freezes") == "0")
            // The claimant's proof was not spent.
            let begun = try await auth.stage.asking(as: .recovery).call(
                Self.claim(of: Self.american, challenge, code), auth.options())
            #expect(begun.accountID == nil)
        }
    }

    @Test func aNumberThatGetsNoSMSIsRefusedEverywhere() async throws {
        try await AuthStage.run { auth in
            for phone in ["+1 900 555 1234", "+44 909 879 0879", "+8816 12345678", "+46 70 123", "+999 1234567"] {
                let refused = try await auth.refusal(of: SendOTP(phone: phone))
                #expect(refused == PhoneError.notValid.busError, "\(phone)")
                let claim = Self.claim(of: phone, .ordered(), "000000")
                #expect(try await auth.refusal(of: claim, from: .recovery) == refused)
            }
        }
    }

    private static func claim(of phone: String, _ challenge: Identifier, _ code: String) -> BeginRecovery {
        BeginRecovery(
            caseID: .ordered(), accountPhone: phone, challengeID: challenge, code: code, device: AuthStage.device,
            freezeSeconds: 60)
    }
}
