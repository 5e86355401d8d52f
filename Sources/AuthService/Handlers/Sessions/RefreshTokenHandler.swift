import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

struct RefreshTokenHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let secrets: Secrets
    let keys: SigningKeyRotator
    let roles: RolePolicy
    let opener: SessionOpener

    func handle(_ request: RefreshToken, context: RequestContext) async throws -> Session {
        let hash = secrets.hash(of: request.refreshToken)
        let presenting = SessionStore.presenting(
            hash, deviceSecret: request.deviceSecret.map { secrets.hash(of: $0) })
        var session: Session
        do {
            session = try await inbox.once(context, carriesToken: true, reading: presenting) {
                try await refresh(try SessionStore.presented($1), context, hash: hash, in: $0)
            }
        } catch let error as BusError
            where error.code == ErrorCode.idempotencyAnswerGone.name && request.deviceSecret != nil
        {
            // With the device's secret, a request with any idempotency key counts as a retry. So the client need not
            // know how long answers are kept.
            session = try await inbox.once(nil, reading: presenting) {
                try await refresh(try SessionStore.presented($1), context, hash: hash, in: $0)
            }.reply
        }
        session.user.onboardingStatus = await opener.onboardingStatus(of: session, context)
        return session
    }

    @Loop private func refresh(
        _ token: PresentedToken?, _ context: RequestContext, hash: [UInt8], in transaction: Transaction
    ) async throws -> Outcome<Session> {
        guard let token else { throw Self.invalid }
        let decision = RefreshPolicy.decide(
            tokenGeneration: token.generation, sessionGeneration: token.sessionGeneration,
            usedGeneration: token.usedGeneration, replacedAt: token.replacedAt, isProven: token.isProven,
            isEnded: token.isRevoked
                || RefreshPolicy.isOver(
                    createdAt: token.createdAt, lastUsedAt: token.lastUsedAt, now: token.now),
            age: RefreshPolicy.age(ofAttempt: context.attempt, sent: context.age), now: token.now)
        switch decision {
        case .invalid: throw Self.invalid
        case .overtaken: throw BusError.requestInProgress
        case .revoke:
            let chain = try await audit.chain(of: token.person, in: transaction)
            SessionStore.revoke(token.session, .reuse, chain: chain, in: transaction)
            return .refusal(
                BusError(
                    .refreshTokenReused, "This session was ended for your safety. Please sign in again.",
                    executed: .yes))
        case .repeatAnswer:
            guard let sealed = token.answerSealed else { throw DatabaseError.unreadable(column: "answer_sealed") }
            return .reply(
                try WireJSON.decode(Session.self, from: try secrets.answerSealer.open(sealed, associated: hash)))
        case .rotate: return .reply(try rotate(token, hash: hash, in: transaction))
        }
    }

    @Loop private func rotate(
        _ token: PresentedToken, hash: [UInt8], in transaction: Transaction
    ) throws -> Session {
        let accessID = Identifier.ordered()
        let refresh = SecretToken.make(prefix: "rf")
        let grant = roles.grant(
            token.role, hasIdentity: token.hasIdentity, openedAt: token.createdAt, now: token.now)
        let access = try keys.issuer(at: token.now).token(
            id: accessID, person: token.person, session: token.session, app: token.app, grant: grant, now: token.now)
        let session = Session(
            accessToken: access, expiresInSeconds: grant.lifetime, refreshToken: refresh,
            sessionId: token.session, deviceId: token.device, isNewUser: false,
            user: .init(id: token.person, onboardingStatus: nil))
        let sealed = secrets.answerSealer.seal(try WireJSON.encode(session), associated: hash)
        SessionStore.rotate(
            token, hash: hash, to: secrets.hash(of: refresh), access: accessID, answer: sealed, in: transaction)
        return session
    }

    private static let invalid = BusError(.refreshTokenInvalid, "Please sign in again.")
}
