import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import AuthService

@Suite("linking an identity while signed in") struct LinkIdentityTests {
    private static let phone = "+14155552671"

    @Loop private func request(_ social: SocialStage, subject: String = "1") async throws -> LinkIdentity {
        let nonce = try await social.nonce("google")
        let token = social.forge.token("google", subject: subject, nonce: nonce)
        return LinkIdentity(provider: "google", identityToken: token, nonce: nonce)
    }

    @Test func aLinkedIdentityOpensTheAccountAndNotifiesEveryDevice() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let session = try await auth.signIn(Self.phone, push: "fcm:first")
            let link = try await request(social)
            _ = try await auth.ask(link, as: social.actor(session))
            let refused = try await auth.refusal(of: link, as: social.actor(session))
            #expect(refused.code == "identity_token_invalid", "a nonce works once")
            let opened = try #require(try await social.session("google", subject: "1"))
            #expect(opened.user.id == session.user.id)
            #expect(try await auth.ask(ListIdentities(), as: social.actor(session)).identities.count == 1)
            try await social.waitUntilSent()
            #expect(auth.spool.pushes().contains { $0["data"]?["kind"] == "identity_linked" })
        }
    }

    /// An identity outranks the address, so the owner could not undo the link.
    @Test func aSessionByEmailAloneLinksNoIdentity() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let thief = try await auth.signIn(byEmail: "anna@example.com")
            let refused = try await auth.refusal(of: try await request(social), as: social.actor(thief))
            #expect(refused.code == "forbidden")
            #expect(try await auth.stage.rows("SELECT count(*) FROM identities") == "0")
        }
    }

    @Test func linkingAnIdentityDropsTheRole() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let session = try await auth.signIn(Self.phone)
            try await auth.stage.rows("UPDATE accounts SET role = 'staff'")
            _ = try await auth.ask(try await request(social), as: social.actor(session))
            #expect(try await auth.stage.rows("SELECT role FROM accounts") == "user")
            #expect(try await !auth.ask(CheckSession(sessionID: session.sessionId)).isActive)
        }
    }

    @Test func linkingNeedsAnAccessToken() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let session = try await auth.signIn(Self.phone)
            let link = try await request(social)
            var options = auth.options(social.actor(session))
            options.accessToken = nil
            let refused = await #expect(throws: BusError.self) { try await auth.gateway.call(link, options) }
            #expect(refused?.code == "unauthorized")
        }
    }
}
