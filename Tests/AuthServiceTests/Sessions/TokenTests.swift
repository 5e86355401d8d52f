import BusProtocol
import Cryptography
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("tokens") struct TokenTests {
    private static let now = Timestamp("2026-02-20T09:00:00.999999Z")!

    @Test(
        "each state of a refresh token has its verdict",
        arguments: [
            (1, 1, nil, false, .rotate), (7, 7, nil, false, .rotate), (1, 1, nil, true, .invalid),
            (1, 2, 0, false, .repeatAnswer), (1, 2, 9_999, false, .repeatAnswer), (1, 2, 10_000, false, .revoke),
            (1, 2, 60_000, false, .revoke), (1, 2, nil, false, .revoke),
            // Two generations old: the new pair was used, so this token is a copy.
            (1, 3, 1, false, .revoke), (1, 2, 1, true, .invalid), (1, 9, 60_000, true, .invalid),
        ] as [(Int64, Int64, Int?, Bool, RefreshPolicy.Decision)])
    func refresh(
        token: Int64, session: Int64, replacedMillisecondsAgo: Int?, isEnded: Bool, expected: RefreshPolicy.Decision
    ) {
        let decision = RefreshPolicy.decide(
            tokenGeneration: token, sessionGeneration: session, usedGeneration: session - 1,
            replacedAt: replacedMillisecondsAgo.map { Self.now - .milliseconds($0) }, isProven: false, isEnded: isEnded,
            age: .zero, now: Self.now)
        #expect(decision == expected)
    }

    @Test(
        "when a repeated refresh is answered again",
        arguments: [
            (1, 2, 1, false, .repeatAnswer), (0, 2, 1, false, .repeatAnswer), (1, 2, 11, false, .revoke),
            // The device proves itself, and its answers were lost, once or twice.
            (1, 2, 1, true, .repeatAnswer), (1, 2, 11, true, .rotate), (1, 3, 3600, true, .rotate),
            // A token of the new pair was seen: its answer was not lost.
            (2, 2, 1, false, .revoke), (2, 2, 1, true, .revoke), (2, 3, 3600, true, .revoke),
        ] as [(Int64, Int64, Int, Bool, RefreshPolicy.Decision)])
    func grace(
        usedGeneration: Int64, session: Int64, replacedSecondsAgo: Int, isProven: Bool, expected: RefreshPolicy.Decision
    ) {
        let decision = RefreshPolicy.decide(
            tokenGeneration: 1, sessionGeneration: session, usedGeneration: usedGeneration,
            replacedAt: Self.now - .seconds(replacedSecondsAgo), isProven: isProven, isEnded: false, age: .zero,
            now: Self.now)
        #expect(decision == expected)
    }

    @Test(
        "how long ago a request was sent first",
        arguments: [(1, 300, 300), (2, 300, 10_300), (3, 60_000, 70_000)] as [(Int, Int, Int)])
    func age(attempt: Int, sentMillisecondsAgo: Int, expected: Int) {
        let age = RefreshPolicy.age(ofAttempt: attempt, sent: .milliseconds(sentMillisecondsAgo))
        #expect(age == .milliseconds(expected))
    }

    /// A client sent the same token again, got a new pair and used it, while its first request was held up.
    @Test(
        "when an old refresh token is no theft",
        arguments: [
            (false, 1000, 999, .revoke), (false, 1000, 1000, .revoke), (false, 1000, 1001, .overtaken),
            (true, 1000, 1001, .overtaken), (true, 1000, 999, .revoke), (false, nil, 60_000, .revoke),
        ] as [(Bool, Int?, Int, RefreshPolicy.Decision)])
    func overtaken(
        isProven: Bool, replacedMillisecondsAgo: Int?, sentMillisecondsAgo: Int, expected: RefreshPolicy.Decision
    ) {
        let decision = RefreshPolicy.decide(
            tokenGeneration: 1, sessionGeneration: 3, usedGeneration: 2,
            replacedAt: replacedMillisecondsAgo.map { Self.now - .milliseconds($0) }, isProven: isProven,
            isEnded: false, age: .milliseconds(sentMillisecondsAgo), now: Self.now)
        #expect(decision == expected)
    }

    @Test(
        "how old a session gets",
        arguments: [
            (0, 0, false), (30 * 86_400 - 1, 30 * 86_400 - 1, false), (30 * 86_400, 30 * 86_400, true),
            (180 * 86_400 - 1, 60, false), (180 * 86_400, 0, true), (200 * 86_400, 1, true),
        ] as [(Int64, Int64, Bool)])
    func age(secondsOld: Int64, secondsIdle: Int64, isOver: Bool) {
        let over = RefreshPolicy.isOver(
            createdAt: Self.now - .seconds(secondsOld), lastUsedAt: Self.now - .seconds(secondsIdle), now: Self.now)
        #expect(over == isOver)
    }

    @Test func anAccessTokenIsSignedAndHasItsClaims() throws {
        let (person, session, key) = (Identifier.random(), Identifier.ordered(), Ed25519PrivateKey())
        let token = AccessTokenIssuer(kid: "k1", key: key)
            .token(
                id: .ordered(), person: person, session: session, grant: RolePolicy.Grant(role: .user, lifetime: 900),
                now: Self.now)
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        let signature = try #require(Base64URL.decode(parts[2]))
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        let known = try #require(Ed25519PublicKey(raw: key.publicKey.raw))
        #expect(known.isValid(signature: signature, for: signed))
        #expect(!known.isValid(signature: signature, for: signed.dropLast() + [signed.last! ^ 1]))
        #expect(!Ed25519PrivateKey().publicKey.isValid(signature: signature, for: signed))

        let header = try JSONValue.parse(try #require(Base64URL.decode(parts[0])))
        #expect(header == ["alg": "EdDSA", "kid": "k1", "typ": "at+jwt"])
        let claims = try JSONValue.parse(try #require(Base64URL.decode(parts[1])))
        let iat = Self.now.microsecondsSinceEpoch / 1_000_000
        #expect(claims["iat"] == .integer(iat) && claims["exp"] == .integer(iat + 900))
        #expect(claims["sub"]?.stringValue == person.description && claims["sid"]?.stringValue == session.description)
        #expect(claims["iss"] == "vestibule" && claims["aud"] == "vestibule" && claims["role"] == "user")
        #expect(claims["jti"]?.stringValue.flatMap(Identifier.init) != nil)
        #expect(token.utf8.count <= 2048, "longer ones are refused unread")
    }

    @Test func noTwoAccessTokensAreTheSame() {
        let (person, session) = (Identifier.random(), Identifier.ordered())
        let issuer = AccessTokenIssuer(kid: "k1", key: Ed25519PrivateKey())
        let tokens = (0..<8).map { _ in
            issuer.token(
                id: .ordered(), person: person, session: session, grant: RolePolicy.Grant(role: .user, lifetime: 900),
                now: Self.now)
        }
        #expect(Set(tokens).count == 8)
    }

    @Test func aCodeMatchesOnlyItsChallengeAndPhone() throws {
        let secrets = Secrets(try KeyRing(contents: KeyRing.generate(id: "test")))
        let (challenge, phone) = (Identifier.ordered(), secrets.phoneHash.code(for: "+14155552671"))
        let hash = secrets.hash(ofCode: "042917", challenge: challenge, contact: phone)
        #expect(secrets.hash(ofCode: "042917", challenge: challenge, contact: phone) == hash)
        #expect(secrets.hash(ofCode: "042918", challenge: challenge, contact: phone) != hash)
        #expect(secrets.hash(ofCode: "042917", challenge: .ordered(), contact: phone) != hash)
        let other = secrets.phoneHash.code(for: "+14155552672")
        #expect(secrets.hash(ofCode: "042917", challenge: challenge, contact: other) != hash)
    }

    @Test func migrationsAreThoseOfTheFolder() throws {
        #expect(try SourceFolder.migrations(of: "AuthService") == AuthMigrations.all)
    }
}
