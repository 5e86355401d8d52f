import BusProtocol
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("the app of a session") struct SessionAppTests {
    private static let phone = "+14155552671"

    /// The claim `app` of a token.
    private func app(of token: String) throws -> JSONValue? {
        let parts = token.split(separator: ".").map(String.init)
        return try JSONValue.parse(try #require(Base64URL.decode(parts[1])))["app"]
    }

    @Test func theAppIsInTheTokensOfItsSession() async throws {
        try await AuthStage.run { auth in
            let (challenge, code) = try await auth.code(for: Self.phone)
            let first = try await auth.ask(
                VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device, app: SignInRulesOfTests.free))
            #expect(try app(of: first.accessToken) == .string(SignInRulesOfTests.free))
            let second = try await auth.ask(RefreshToken(refreshToken: first.refreshToken))
            #expect(try app(of: second.accessToken) == .string(SignInRulesOfTests.free))
            // The next one of the same person is in the default app.
            try await auth.age("2 minutes")
            #expect(try app(of: try await auth.signIn(Self.phone).accessToken) == nil)
        }
    }

    /// While replicas are upgraded, profile may not know plans yet.
    @Test func theDefaultAppIsOpenWhileProfileIsOfThePreviousRelease() async throws {
        try await AuthStage.run { auth in
            try auth.stage.answering(as: .profile, EventRecorder<AccountCreated>())
            #expect(try await auth.signIn(Self.phone).isNewUser)
            let named = VerifyOTP(
                challengeId: .ordered(), code: "000000", device: AuthStage.device, app: SignInRulesOfTests.free)
            // Auth may still look for the replica of the previous release.
            var error: BusError?
            _ = try await eventually {
                error = await #expect(throws: BusError.self) { try await auth.ask(named) }
                return error?.code != "service_unavailable"
            }
            #expect(error?.code == "unknown_message")
        }
    }

    @Test func aMalformedPublishableKeyIsRefused() async throws {
        try await AuthStage.run { auth in
            for app in ["", "a b", "å", "a.b", String(repeating: "a", count: 65)] {
                let verify = VerifyOTP(challengeId: .ordered(), code: "000000", device: AuthStage.device, app: app)
                let error = await #expect(throws: BusError.self) { try await auth.ask(verify) }
                #expect(error?.code == "invalid_message", "\(app)")
            }
        }
    }
}
