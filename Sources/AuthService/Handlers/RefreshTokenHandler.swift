import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

struct RefreshTokenHandler: RequestHandler {
    let house: ServiceHouse
    let secrets: Secrets
    let keys: SigningKeyStore
    let opener: SessionOpener

    func handle(_ request: RefreshToken, context: RequestContext) async throws -> Session {
        let hash = secrets.hash(of: request.refreshToken)
        var session: Session = try await house.once(context, carriesToken: true) { transaction in
            guard let row = try await transaction.query(Self.load, [.bytes(hash)]).first else {
                throw Self.invalid
            }
            let id = try row.uuid("session_id")
            let now = try row.timestamp("now")
            let decision = RefreshPolicy.decide(
                tokenGeneration: try row.integer("generation"),
                sessionGeneration: try row.integer("session_generation"),
                replacedAt: try row.optionalTimestamp("replaced_at"), isRevoked: try row.bool("is_revoked"), now: now)
            switch decision {
            case .invalid: throw Self.invalid
            case .revoke:
                AccountStore.revoke(session: id, in: transaction)
                return .refusal(
                    BusError(
                        .refreshTokenReused, "This session was ended for your safety. Please sign in again.",
                        executed: .yes))
            case .repeatAnswer:
                let sealed = try row.bytes("answer_sealed")
                return .reply(
                    try WireJSON.decode(Session.self, from: try secrets.answerSealer.open(sealed, associated: hash)))
            case .rotate: return .reply(try rotate(row, hash: hash, now: now, in: transaction))
            }
        }
        session.user.onboardingStatus = await opener.onboardingStatus(of: session.user.id, context)
        return session
    }

    @Loop private func rotate(_ row: Row, hash: [UInt8], now: Timestamp, in transaction: Transaction) throws -> Session
    {
        let (id, person) = (try row.uuid("session_id"), try row.uuid("person_id"))
        let generation = try row.integer("generation") + 1
        let refresh = SecretToken.make(prefix: "rf")
        let session = Session(
            accessToken: try keys.issuer.token(person: person, session: id, role: try row.text("role"), now: now),
            expiresInSeconds: AccessTokenIssuer.lifetime, refreshToken: refresh, sessionId: id,
            deviceId: try row.uuid("device_id"), isNewUser: false, user: .init(id: person, onboardingStatus: nil))
        let sealed = secrets.answerSealer.seal(try WireJSON.encode(session), associated: hash)
        transaction.send(Self.replace, [.bytes(hash), .bytes(sealed)])
        transaction.send(Self.advance, [.uuid(id), .integer(generation)])
        AccountStore.insertRefreshToken(secrets.hash(of: refresh), session: id, generation: generation, in: transaction)
        return session
    }

    private static let invalid = BusError(.refreshTokenInvalid, "Please sign in again.")

    /// Both rows are locked: who waited for the session's alone would read the token's as it was before its twin
    /// replaced it, and take a repeated call for a theft.
    private static let load: Statement = """
        SELECT t.session_id, t.generation, t.replaced_at, t.answer_sealed, s.generation AS session_generation, s.person_id,
            s.device_id, s.revoked_at IS NOT NULL OR a.status <> 'active' AS is_revoked, a.role, clock_timestamp() AS now
        FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id JOIN accounts a ON a.id = s.person_id
        WHERE t.hash = $1 FOR UPDATE OF s, t
        """
    private static let replace: Statement = """
        UPDATE refresh_tokens SET replaced_at = clock_timestamp(), answer_sealed = $2 WHERE hash = $1
        """
    private static let advance: Statement = """
        UPDATE sessions SET generation = $2, last_used_at = clock_timestamp() WHERE id = $1
        """
}
