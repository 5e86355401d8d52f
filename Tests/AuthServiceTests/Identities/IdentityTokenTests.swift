import Cryptography
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// What is taken of Apple and Google, without a service.
@Suite("identity tokens") struct IdentityTokenTests {
    /// When the tokens below were made, in seconds since 1970.
    private static let moment: Int64 = 1_800_000_000
    // Made with Python's cryptography for this test, of the keys in the set.
    private static let apple = """
        eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInIxIiwgInR5cCI6ICJKV1QifQ.eyJhdWQiOiAib3JnLmV4YW1wbGUuYXBwIiwgInN1YiI6ICIwMDE\
        yMzQuYWJjIiwgImlhdCI6IDE4MDAwMDAwMDAsICJleHAiOiAxODAwMDAwNjAwLCAibm9uY2UiOiAiZDYzMDcyOWZkMjc0YTc5NGI2NWMyNjJhN\
        TVmODM5ZDlhNjk2YzFhMTI3NDUyZjA2ZjE3MDY3OGE4YjA4YmZmNSIsICJpc3MiOiAiaHR0cHM6Ly9hcHBsZWlkLmFwcGxlLmNvbSIsICJlbWF\
        pbCI6ICJhbm5hQGV4YW1wbGUub3JnIiwgImVtYWlsX3ZlcmlmaWVkIjogInRydWUifQ.Avk4EDtTcXgL0P0D0xGw0_Knszu17YTVL_rlJK_Fu4\
        KvGjuyNStBPN8-moDMYec2ITHON2NC4EYaIwLjFLsV2PRMvUWf-p08nMw67smxqB8joZMr4JtHQ-KMWvdK706pkb7apu2SksfJ_CVxXdyKhtrP\
        _FFzAtyCydNcEzhSJEdGBWJxDKpUSXK5sQdQ29cSxGLFcgboBcw7c_ynKrwjPb1iukO5JCv0_CXMRxwzkMUwuwPdfeXCNRWi5C6NN8xQFUPLes\
        AMlKWx3KYZC1aX2NzdXTq5TFwZWMM-BfvLMm6kLIOlTrL4gH16ESy8fGUe9mETrS0pq80FLrovUg1aOw
        """
    private static let google = """
        eyJhbGciOiAiRVMyNTYiLCAia2lkIjogImUxIiwgInR5cCI6ICJKV1QifQ.eyJhdWQiOiAib3JnLmV4YW1wbGUuYXBwIiwgInN1YiI6ICIwMDE\
        yMzQuYWJjIiwgImlhdCI6IDE4MDAwMDAwMDAsICJleHAiOiAxODAwMDAwNjAwLCAibm9uY2UiOiAiZDYzMDcyOWZkMjc0YTc5NGI2NWMyNjJhN\
        TVmODM5ZDlhNjk2YzFhMTI3NDUyZjA2ZjE3MDY3OGE4YjA4YmZmNSIsICJpc3MiOiAiYWNjb3VudHMuZ29vZ2xlLmNvbSIsICJhenAiOiAib3J\
        nLmV4YW1wbGUud2ViIiwgImVtYWlsIjogImFubmFAZXhhbXBsZS5vcmciLCAiZW1haWxfdmVyaWZpZWQiOiBmYWxzZX0.7JRYks3zSdaFbffEk\
        e138JJOLTpATiRh-85CS0TanqZYZ4I4cvhls4bLLa55WOQKYghr6Ra_x2rNRwibfhHQDQ
        """
    private static let keySet = """
        {"keys":[{"kty":"RSA","kid":"r1","use":"sig","alg":"RS256","n":"xjhsePpDlq-_B3VguOS9NE4DQtT7k-0b0gKAjB8PZk9BRk\
        EEhdvGLZ33-IpDfW9SbkRAuk72fFeMFxEIYYo2Rau9ZYNML1RGA0YwT1aYEMvGz5FkWJc7tvY91IvS0qaLhykiTG1ZPEr7fSe0hTkVpXQQB4Is\
        cz7v_yKsYVgZ9IOU2VjXR7M623RSNpaFHa1XcKnwh7RXWPMZLKGQzaAtEUu7VHxgNwL5SPHJlezngU2kp1coTXSrM_9_ZA3j-CUph-1wLIsMEB\
        cZCKaPDgg-UmZ3SOUu4bQx_UdKl-e52au972zzsMiwaiXcbVo6-BTxsniQRcofYwgazLPrOsBp6w","e":"AQAB"},{"kty":"EC","crv":"P\
        -256","kid":"e1","use":"sig","alg":"ES256","x":"b5u1YMHlUuaVD2S_B0clj5y-u7bYnNemYhp_Luv7YEA","y":"tKxsOzz4YEbX\
        EpzwnMaTOVyPKwJ0NFR5lWBH3480NO8"}]}
        """

    private static func provider(_ name: IdentityProviderName, raw: Bool = false) -> IdentityProvider {
        IdentityProvider(
            name: name, issuer: IdentityForge.issuer(name.rawValue),
            audiences: [IdentityForge.audience, IdentityForge.otherAudience], takesRawNonce: raw)
    }

    private static func identity(
        _ text: String, _ keys: ProviderKeySet, _ provider: IdentityProvider, nonce: String, now: Int64
    ) throws(IdentityTokenRefusal) -> ProvenIdentity {
        let token = try IdentityToken(text)
        return try token.verified(by: provider, key: keys.keys[token.kid], now: now).identity(nonce: nonce, now: now)
    }

    @Test func acceptsTokensSignedByAnotherImplementation() throws {
        let keys = try #require(ProviderKeySet(Array(Self.keySet.utf8)))
        let apple = try Self.identity(
            Self.apple, keys, Self.provider(.apple), nonce: "nc_vector", now: Self.moment)
        #expect(apple.subject == "001234.abc" && apple.issuer == "https://appleid.apple.com")
        #expect(apple.email?.text == "a…@e…" && apple.audience == IdentityForge.audience)
        let google = try Self.identity(
            Self.google, keys, Self.provider(.google), nonce: "nc_vector", now: Self.moment)
        #expect(google.issuer == "https://accounts.google.com", "the two spellings are one issuer")
        #expect(google.email == nil, "the provider does not vouch for it")
    }

    @Test(
        "counts a minute for the clocks",
        arguments: [
            (-61, IdentityTokenRefusal.future), (-60, nil), (0, nil), (599, nil), (659, nil), (660, .expired),
            (661, .expired),
        ] as [(Int64, IdentityTokenRefusal?)])
    func leeway(offset: Int64, refusal: IdentityTokenRefusal?) throws {
        let keys = try #require(ProviderKeySet(Array(Self.keySet.utf8)))
        let found = #expect(throws: (any Error).self) {
            _ = try Self.identity(
                Self.apple, keys, Self.provider(.apple), nonce: "nc_vector", now: Self.moment + offset)
            throw CancellationError()
        }
        #expect(found as? IdentityTokenRefusal == refusal)
    }

    @Test func aRawNonceIsAcceptedIfConfigured() throws {
        let forge = IdentityForge()
        let keys = try #require(ProviderKeySet(CanonicalJSON.bytes(of: forge.keySet)))
        var claims = forge.claims("apple", subject: "1", nonce: "nc_raw")
        let now = try #require(claims["iat"]?.integerValue)
        claims["nonce"] = "nc_raw"
        let token = forge.sign(forge.header, .object(claims))
        #expect(throws: IdentityTokenRefusal.nonce) {
            try Self.identity(token, keys, Self.provider(.apple), nonce: "nc_raw", now: now)
        }
        _ = try Self.identity(token, keys, Self.provider(.apple, raw: true), nonce: "nc_raw", now: now)
    }

    @Test func eachBadTokenIsRefusedForItsOwnDefect() throws {
        let forge = IdentityForge()
        let keys = try #require(ProviderKeySet(CanonicalJSON.bytes(of: forge.keySet)))
        let good = forge.token("google", subject: "108", nonce: "nc_good")
        let now = try #require(forge.claims("google", subject: "108", nonce: "nc_good")["iat"]?.integerValue)
        _ = try Self.identity(good, keys, Self.provider(.google), nonce: "nc_good", now: now)
        let corpus = BadToken.all(forge, nonce: "nc_good")
        #expect(corpus.count >= 80 && Set(corpus.map(\.label)).count == corpus.count)
        for bad in corpus {
            let refusal = #expect(throws: IdentityTokenRefusal.self, "\(bad.label)") {
                try Self.identity(bad.token, keys, Self.provider(.google), nonce: "nc_good", now: now)
            }
            #expect(refusal == bad.refusal, "\(bad.label)")
        }
    }

    @Test(
        "a key that does not fit is none",
        arguments: [
            "{}", "[]", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"a","k":"AAAA"}]}"#,
            #"{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}]}"#,
            #"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"AQAB","y":"AQAB"}]}"#,
        ])
    func noKey(text: String) { #expect(ProviderKeySet(Array(text.utf8)) == nil) }

    @Test func aKeyIsForOneAlgorithmAndForSignatures() throws {
        let jwk = try #require(IdentityForge().jwk.objectValue)
        let changes: [(String, JSONValue)] = [
            ("alg", "RS256"), ("alg", "ES384"), ("use", "enc"), ("crv", "P-384"), ("kty", "RSA"), ("d", "AQAB"),
        ]
        for (name, value) in changes {
            let set: JSONValue = ["keys": [.object(jwk.merging([name: value]) { $1 })]]
            #expect(ProviderKeySet(CanonicalJSON.bytes(of: set)) == nil, "\(name)")
        }
        var bare = jwk
        for name in ["alg", "use"] { bare[name] = nil }
        #expect(ProviderKeySet(CanonicalJSON.bytes(of: ["keys": [.object(bare)]])) != nil)
    }

    @Test(
        "shows no more of an address than its owner knows it by",
        arguments: [
            ("anna@example.org", "a…@e…"), ("7@1.example", "7…@1…"), ("anna", nil), ("@example.org", nil),
            ("anna@", nil),
            ("a@b@c", nil), ("ä@example.org", nil), ("<a>@example.org", nil),
        ] as [(String, String?)])
    func masks(address: String, shown: String?) { #expect(MaskedEmail(address)?.text == shown) }

    // MARK: When keys are asked for

    private static func seconds(_ count: UInt64) -> UInt64 { count * 1_000_000_000 }

    @Test func keysOutliveAnHourWithoutTheirProvider() {
        var policy = ProviderKeyPolicy()
        let start = Self.seconds(100_000)
        #expect(policy.step(isKnownKey: false, at: start) == .ask)
        policy.noteRequest(at: start)
        policy.noteAnswer(askedAt: start)
        #expect(policy.step(isKnownKey: true, at: start + Self.seconds(899)) == .decide)
        // The outage begins; it is asked for each minute, and nobody waits for that.
        for minute in UInt64(15)..<119 {
            let now = start + Self.seconds(minute * 60)
            #expect(policy.step(isKnownKey: true, at: now) == .decideAndAsk)
            policy.noteRequest(at: now)
            policy.noteFailure()
            #expect(policy.step(isKnownKey: true, at: now + Self.seconds(59)) == .decide)
        }
        #expect(policy.step(isKnownKey: true, at: start + Self.seconds(7200)) == .ask, "a withdrawn key ends as well")
        policy.noteRequest(at: start + Self.seconds(7200))
        policy.noteFailure()
        #expect(policy.step(isKnownKey: true, at: start + Self.seconds(7204)) == .unavailable)
        #expect(policy.step(isKnownKey: true, at: start + Self.seconds(7205)) == .ask)
    }

    /// Nobody signed in for a day when the provider went silent.
    @Test func unusedKeysAreRenewed() async throws {
        try await Loop.spawn { try await Self.quietDay() }.value
    }

    @Loop private static func quietDay() async throws {
        let forge = IdentityForge()
        let set = String(decoding: CanonicalJSON.bytes(of: forge.keySet), as: UTF8.self)
        let server = try ProviderServer(.answers(status: 200, body: set))
        let clock = Clock()
        let store = ProviderKeyStore(url: try #require(URL(string: server.url))) { clock.now }
        for _ in 0..<144 {
            await store.renew()
            clock.now += IdentityProviders.renewal.nanoseconds
        }
        await server.stop()
        for _ in 0..<6 {
            await store.renew()
            #expect(try await store.key("forge-1") != nil)
            clock.now += IdentityProviders.renewal.nanoseconds
        }
    }

    @Test func anUnknownKeyAsksOnceAMinute() {
        var policy = ProviderKeyPolicy()
        let start = Self.seconds(100_000)
        policy.noteRequest(at: start)
        policy.noteAnswer(askedAt: start)
        #expect(policy.step(isKnownKey: false, at: start + Self.seconds(59)) == .decide)
        #expect(policy.step(isKnownKey: false, at: start + Self.seconds(60)) == .ask)
        policy.noteRequest(at: start + Self.seconds(60))
        policy.noteFailure()
        #expect(policy.step(isKnownKey: false, at: start + Self.seconds(61)) == .unavailable, "it may be a new one")
        #expect(policy.step(isKnownKey: true, at: start + Self.seconds(61)) == .decide)
    }

    @Test func theKeyStoreSharesRequestsAndSurvivesAnOutage() async throws {
        try await Loop.spawn { try await Self.outage() }.value
    }

    @Loop private static func outage() async throws {
        let forge = IdentityForge()
        let set = String(decoding: CanonicalJSON.bytes(of: forge.keySet), as: UTF8.self)
        let server = try ProviderServer(.answers(status: 200, body: set))
        let clock = Clock()
        let url = try #require(URL(string: server.url))
        let store = ProviderKeyStore(url: url) { clock.now }
        let found = try await atOnce(8) { try await store.key("forge-1") != nil }
        #expect(found == Array(repeating: true, count: 8) && server.requests.count == 1)
        for _ in 0..<3 { #expect(try await store.key("forge-2") == nil) }
        #expect(server.requests.count == 1, "within a minute")
        clock.now += seconds(61)
        for _ in 0..<3 { #expect(try await store.key("forge-2") == nil) }
        #expect(server.requests.count == 2)
        await server.stop()
        for _ in 0..<60 {
            clock.now += seconds(60)
            #expect(try await store.key("forge-1") != nil)
        }
        await #expect(throws: ProviderKeyStore.Unavailable.self) { try await store.key("forge-2") }
        clock.now += seconds(7200)
        await #expect(throws: ProviderKeyStore.Unavailable.self) { try await store.key("forge-1") }
    }
}

@Loop private final class Clock {
    var now: UInt64 = 100_000_000_000_000
}
