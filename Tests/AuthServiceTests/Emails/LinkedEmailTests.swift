import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import AuthService

@Suite("an account's email address") struct LinkedEmailTests {
    private static let email = "anna@example.com"
    private static let phone = "+14155552671"

    @Loop private func link(_ session: Session, _ auth: AuthStage) async throws {
        let actor = auth.actor(session)
        let (challenge, code) = try await auth.email(
            SendEmailCode(email: Self.email, purpose: "link_email"), as: actor)
        let linked = try await auth.ask(LinkEmail(challengeId: challenge, code: code), as: actor)
        #expect(linked.maskedEmail == "a…@e…")
    }

    @Test func aLinkedAddressOpensTheAccountUntilItIsUnlinked() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone, push: "fcm:first")
            try await link(session, auth)
            let shown = try await auth.ask(ListIdentities(), as: auth.actor(session))
            #expect(shown.email?.email == "a…@e…" && shown.identities.isEmpty)
            try await auth.age("2 minutes")
            let byEmail = try await auth.signIn(byEmail: Self.email)
            #expect(byEmail.user.id == session.user.id && !byEmail.isNewUser)
            // It is not fresh, as the account has a number.
            let refused = try await auth.refusal(of: UnlinkEmail(), as: auth.actor(byEmail))
            #expect(refused.code == "reauthentication_required")
            _ = try await auth.ask(UnlinkEmail(), as: auth.actor(session))
            #expect(try await !auth.ask(CheckSession(sessionID: byEmail.sessionId)).isActive)
            #expect(try await auth.ask(CheckSession(sessionID: session.sessionId)).isActive)
            #expect(try await auth.ask(ListIdentities(), as: auth.actor(session)).email == nil)
            #expect(
                try await eventually {
                    Set(auth.spool.pushes().compactMap { $0["data"]?["kind"]?.stringValue })
                        .isSuperset(of: ["identity_linked", "identity_unlinked"])
                })
            try await auth.age("2 minutes")
            #expect(try await auth.signIn(byEmail: Self.email).user.id != session.user.id)
        }
    }

    @Test func theLastSignInMethodCannotBeRemoved() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(byEmail: Self.email)
            #expect(try await auth.refusal(of: UnlinkEmail(), as: auth.actor(session)).code == "last_way_in")
        }
    }

    @Test func linkingNeedsAValidAccessToken() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let actor = auth.actor(session)
            let (challenge, code) = try await auth.email(
                SendEmailCode(email: Self.email, purpose: "link_email"), as: actor)
            let request = LinkEmail(challengeId: challenge, code: code)
            var options = auth.options(actor)
            for token in [nil, session.accessToken + "x"] {
                options.accessToken = token
                let refused = await #expect(throws: BusError.self) { try await auth.gateway.call(request, options) }
                #expect(refused?.code == "unauthorized")
            }
            options.accessToken = session.accessToken
            #expect(try await auth.gateway.call(request, options).maskedEmail == "a…@e…")
        }
    }

    @Test func oneOfTwoConcurrentLinksOfAnAddressSucceeds() async throws {
        try await AuthStage.run { auth in
            var asked: [(Session, LinkEmail)] = []
            for last in 1...2 {
                let session = try await auth.signIn("+1415555267\(last)")
                let (challenge, code) = try await auth.email(
                    SendEmailCode(email: Self.email, purpose: "link_email"), as: auth.actor(session),
                    at: "192.0.2.\(last)")
                asked.append((session, LinkEmail(challengeId: challenge, code: code)))
                try await auth.age("2 minutes")
                // The second challenge is the first one's successor only for its own principal.
                try await auth.stage.rows("UPDATE challenges SET state = 'open' WHERE purpose = 'link_email'")
            }
            let requests = asked
            async let first = outcome(requests[0], auth)
            async let second = outcome(requests[1], auth)
            let outcomes = try await [first, second].sorted()
            #expect(outcomes == ["identity_in_use", "linked"])
        }
    }

    @Loop private func outcome(_ asked: (Session, LinkEmail), _ auth: AuthStage) async throws -> String {
        do {
            _ = try await auth.ask(asked.1, as: auth.actor(asked.0))
            return "linked"
        } catch let error as BusError { return error.code }
    }

    /// A thief who had the account may have linked an address of their own.
    @Test func aRecoveryUnlinksIt() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            try await link(session, auth)
            try await auth.stage.containers[0].database.transaction {
                FreezeStore.endDevices(of: session.user.id, in: $0)
            }
            #expect(try await auth.stage.rows("SELECT count(*) FROM emails") == "0")
        }
    }
}
