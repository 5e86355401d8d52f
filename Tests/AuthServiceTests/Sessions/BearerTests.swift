import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import TestSupport
import Testing

@testable import AuthService

/// Acts in which auth looks at the access token itself.
@Suite("bearer") struct BearerTests {
    private static let (phone, other) = ("+14155552671", "+14155552672")

    @Loop private func code<Request: BusRequest>(
        of request: Request, _ actor: Actor, _ token: String?, _ auth: AuthStage
    ) async throws -> String {
        var options = auth.options()
        (options.actor, options.accessToken) = (actor, token)
        do {
            _ = try await auth.gateway.call(request, options)
            return "done"
        } catch {
            return error.code
        }
    }

    @Test func withoutAValidTokenNoAccountIsDeletedOrMoved() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let stranger = try await auth.signIn(Self.other)
            let owner = try await auth.signIn(Self.phone)
            let (challenge, digits) = try await social.changeCode(to: "+46701234567", by: owner)
            let actor = auth.actor(owner)
            let change = ChangePhone(challengeId: challenge, code: digits)
            // Signed with a key of the forger's, under the name of the house's.
            let kid = try await auth.stage.rows("SELECT kid FROM signing_keys")
            let forged = AccessTokenIssuer(kid: kid, key: Ed25519PrivateKey()).token(
                id: .ordered(), person: owner.user.id, session: owner.sessionId,
                grant: .init(role: .user, lifetime: 900), now: .now())
            let parts = owner.accessToken.split(separator: ".").map(String.init)
            let strange = stranger.accessToken.split(separator: ".").map(String.init)
            let mixed = "\(parts[0]).\(parts[1]).\(strange[2])"
            for token in [nil, stranger.accessToken, forged, mixed, "x", owner.accessToken + "x"] {
                #expect(try await code(of: DeleteAccount(), actor, token, auth) == "unauthorized")
                #expect(try await code(of: change, actor, token, auth) == "unauthorized")
            }
            let asStaff = Actor(userID: owner.user.id, sessionID: owner.sessionId, role: .staff)
            #expect(try await code(of: DeleteAccount(), asStaff, owner.accessToken, auth) == "unauthorized")
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts") == "2")

            #expect(try await code(of: change, actor, owner.accessToken, auth) == "done")
            #expect(try await code(of: DeleteAccount(), actor, owner.accessToken, auth) == "done")
            #expect(try await auth.stage.rows("SELECT id FROM accounts") == stranger.user.id.description)
        }
    }

    @Test func anEndedSessionsTokenIsRefused() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.phone)
            _ = try await auth.ask(Logout(), as: auth.actor(owner))
            #expect(
                try await code(of: DeleteAccount(), auth.actor(owner), owner.accessToken, auth) == "unauthorized")
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts") == "1")
        }
    }

    /// What auth tells other services about a token, and which callers may ask.
    @Test func anotherServiceCanResolveATokenToItsUser() async throws {
        try await AuthStage.run { auth in
            let operators = try auth.stage.asking(as: .operator)
            let recovery = try auth.stage.asking(as: .recovery)
            let person = try await auth.signIn(Self.phone).user.id
            let grant = ChangeRole(userID: person, role: .staff, isGranted: true, operatorName: "anna")
            _ = try await operators.call(grant, auth.options())
            let staff = try await auth.signIn(Self.phone, push: "one")
            let asked = CheckBearer(accessToken: staff.accessToken)
            let known = try await recovery.call(asked, auth.options())
            #expect(known == BearerChecked(userID: person, sessionID: staff.sessionId, role: .staff, isFresh: true))
            // Taken in the tables only, it is taken all the same.
            try await auth.stage.rows("UPDATE accounts SET role = 'user'")
            #expect(try await auth.refusal(of: asked, from: .recovery).code == "unauthorized")
            try await auth.stage.rows("UPDATE accounts SET role = 'admin'")
            #expect(try await auth.refusal(of: asked, from: .recovery).code == "unauthorized")
            try await auth.stage.rows("UPDATE accounts SET role = 'staff'")
            #expect(try await recovery.call(asked, auth.options()) == known)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            #expect(try await recovery.call(asked, auth.options()).isFresh == false)
            try await auth.stage.rows("UPDATE sessions SET revoked_at = now()")
            #expect(try await auth.refusal(of: asked, from: .recovery).code == "unauthorized")
            let error = await #expect(throws: BusError.self) { try await auth.gateway.call(asked, auth.options()) }
            #expect(error?.code == "caller_not_allowed")
        }
    }
}
