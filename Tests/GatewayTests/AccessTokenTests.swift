import BusProtocol
import Cryptography
import JSONText
import ProcessRuntime
import Testing

@testable import Gateway

/// Makes access tokens as auth does, and as attackers do.
struct TokenMaker {
    var key = Ed25519PrivateKey()
    var kid = "k1"
    let user = Identifier.random()
    let session = Identifier.ordered()

    func header(_ changes: [String: JSONValue] = [:]) -> [String: JSONValue] {
        ["alg": "EdDSA", "typ": "at+jwt", "kid": .string(kid)].merging(changes) { $1 }
    }

    func claims(now: Int64, _ changes: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let standard: [String: JSONValue] = [
            "iss": "vestibule", "aud": "vestibule", "sub": .string(user.description),
            "sid": .string(session.description),
            "role": "user", "iat": .integer(now), "exp": .integer(now + 900), "jti": "j",
        ]
        return standard.merging(changes) { $1 }
    }

    func token(_ header: [String: JSONValue], _ claims: [String: JSONValue]) -> String {
        let signed = Self.part(header) + "." + Self.part(claims)
        return signed + "." + Base64URL.encode(key.signature(for: Array(signed.utf8)))
    }

    func token(now: Int64, header: [String: JSONValue] = [:], claims: [String: JSONValue] = [:]) -> String {
        token(self.header(header), self.claims(now: now, claims))
    }

    static func part(_ value: [String: JSONValue]) -> String {
        Base64URL.encode(CanonicalJSON.bytes(of: .object(value)))
    }
}

@Suite("Access tokens") struct AccessTokenTests {
    private let maker = TokenMaker()
    private let now: Int64 = 1_800_000_000

    private func judge(_ token: String, at time: Int64? = nil) -> Result<AccessToken, TokenRefusal> {
        let verifier = AccessTokenVerifier(
            issuer: "vestibule", audience: "vestibule", keys: [maker.kid: maker.key.publicKey])
        return Result { () throws(TokenRefusal) in try verifier.verify(token, now: time ?? now) }
    }

    @Test func anOwnTokenIsAccepted() throws {
        let token = try judge(maker.token(now: now)).get()
        #expect(token.actor == Actor(userID: maker.user, sessionID: maker.session, role: .user))
        #expect(token.expiresAt == now + 900)
    }

    @Test func theAppIsTheActors() throws {
        let token = try judge(maker.token(now: now, claims: ["app": "pk_a-1"])).get()
        #expect(token.actor == Actor(userID: maker.user, sessionID: maker.session, role: .user, app: "pk_a-1"))
        for app: JSONValue in ["", "a b", "ä", 1, .null, .string(String(repeating: "a", count: 65))] {
            #expect(throws: TokenRefusal.invalid) { try judge(maker.token(now: now, claims: ["app": app])).get() }
        }
    }

    @Test func expiresToTheSecond() {
        #expect((try? judge(maker.token(now: now), at: now + 899).get()) != nil)
        #expect(judge(maker.token(now: now), at: now + 900) == .failure(.expired))
    }

    @Test(
        "headers of other kinds",
        arguments: [
            ["alg": "none"], ["alg": "HS256"], ["alg": "ES256"], ["alg": "eddsa"], ["typ": "JWT"], ["typ": "rt+jwt"],
            ["typ": nil], ["kid": 1], ["jku": "https://evil.example/keys"], ["jwk": [:]],
            ["x5u": "https://evil.example"],
            ["crit": ["exp"]], ["b64": false],
        ] as [[String: JSONValue]])
    func headers(change: [String: JSONValue]) {
        #expect(judge(maker.token(now: now, header: change)) == .failure(.invalid))
    }

    @Test(
        "claims of other containers",
        arguments: [
            ["iss": "elsewhere"], ["aud": "elsewhere"], ["aud": ["vestibule"]], ["sub": "me"], ["sub": nil],
            ["sid": nil],
            ["role": "root"], ["role": nil], ["exp": nil], ["exp": "1900000000"], ["exp": 1e300], ["iat": nil],
            ["iat": 1_800_000_061], ["jti": nil], ["exp": 1_799_999_999],
        ] as [[String: JSONValue]])
    func claims(change: [String: JSONValue]) {
        let verdict = judge(maker.token(now: now, claims: change))
        #expect(verdict == .failure(.invalid))
    }

    @Test func anUnsignedTokenIsRefused() {
        let parts = TokenMaker.part(maker.header(["alg": "none"])) + "." + TokenMaker.part(maker.claims(now: now))
        #expect(judge(parts + ".") == .failure(.invalid))
        #expect(judge(parts) == .failure(.invalid))
    }

    @Test func aTokenSignedByAnotherKeyIsRefused() {
        var stranger = TokenMaker()
        #expect(judge(stranger.token(now: now)) == .failure(.invalid), "our kid, another key")
        stranger.kid = "k2"
        #expect(judge(stranger.token(now: now)) == .failure(.unknownKey))
    }

    @Test("a token changed in any character is none")
    func tampering() {
        let token = Array(maker.token(now: now))
        for index in token.indices {
            var changed = token
            changed[index] = token[index] == "A" ? "B" : "A"
            let verdict = judge(String(changed))
            #expect((try? verdict.get()) == nil, "at \(index)")
        }
    }

    @Test("no second spelling", arguments: ["=", " ", "\n", ".", "A"])
    func otherSpellings(end: String) {
        #expect(judge(maker.token(now: now) + end) == .failure(.invalid))
    }

    @Test func claimsAreReadOnce() {
        let doubled = Array(
            #"{"iss":"vestibule","iss":"vestibule","aud":"vestibule","sub":"\#(maker.user)","sid":"\#(maker.session)","role":"user","iat":\#(now),"exp":\#(now + 9),"jti":"j"}"#
                .utf8)
        let signed = TokenMaker.part(maker.header()) + "." + Base64URL.encode(doubled)
        let token = signed + "." + Base64URL.encode(maker.key.signature(for: Array(signed.utf8)))
        #expect(judge(token) == .failure(.invalid))
        #expect(judge(String(repeating: "a", count: 5000)) == .failure(.invalid))
    }

    @Test func memoryIsBoundedAndKeepsTokensInUse() throws {
        var memory = TokenMemory(capacity: 100)
        let token = KnownToken(try judge(maker.token(now: now)).get())
        func digest(_ number: Int) -> [UInt8] { SHA256.digest(Array("\(number)".utf8)) }
        memory.remember(token, digest(0))
        for index in 1...1000 {
            memory.remember(token, digest(index))
            if index % 20 == 0 { #expect(memory.recall(digest(0)) != nil) }
        }
        #expect(memory.count <= 100)
        #expect(memory.recall(digest(1)) == nil)
        // They differ in their last byte only.
        var almost = digest(0)
        almost[31] ^= 1
        #expect(memory.recall(almost) == nil)
    }

    @Test func aUseIsReportedOnceAndAgainOnceABrowserSavedTheToken() throws {
        var made = try judge(maker.token(now: now)).get()
        made.id = .ordered()
        let token = made
        func reports(at ages: Int64...) -> [Int64] {
            var known = KnownToken(token)
            return ages.filter { known.report(now: token.issuedAt + $0)?.tokenID == token.id }
        }
        #expect(reports(at: 0, 1, 119) == [0])
        #expect(reports(at: 0, 119, 120, 121, 179) == [0, 120])
        #expect(reports(at: 130, 140, 179) == [130])
        #expect(reports(at: 0, 800, 801) == [0, 800])
        #expect(reports(at: 180, 200) == [])
        // The gateway's clock is behind auth's.
        #expect(reports(at: -5, 3, 120) == [-5, 120])
    }
}
