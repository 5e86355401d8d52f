import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// What Apple is asked for, and what it tells.
@Suite("Apple") struct AppleTests {
    private static let phone = "+14155552671"

    /// The forms that Apple's server got at an address.
    @Loop private func forms(_ path: String, _ social: SocialStage) -> [[String: String]] {
        social.apple.requests.filter { $0.head.path == path }.map { request in
            let pairs = String(decoding: request.body, as: UTF8.self).split(separator: "&").map {
                $0.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
            }
            return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") })
        }
    }

    @Test func theCodeIsExchangedOnceAndItsTokenRevokedWithTheLink() async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("apple", subject: "1", to: Self.phone, code: "c0de+/=")
            try await social.waitUntilSent()
            let exchange = try #require(forms("/token", social).first)
            #expect(forms("/token", social).count == 1)
            #expect(exchange["grant_type"] == "authorization_code" && exchange["code"] == "c0de+/=")
            #expect(exchange["client_id"] == IdentityForge.audience)
            // The client secret is a token of the team's, which its key verifies.
            let parts = try #require(exchange["client_secret"]).split(separator: ".").map(String.init)
            let signature = try #require(Base64URL.decode(parts[2]))
            #expect(
                social.forge.key.publicKey.isValid(signature: signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
            let claims = try JSONValue.parse(try #require(Base64URL.decode(parts[1])))
            #expect(claims["iss"] == "TEAM" && claims["sub"] == .string(IdentityForge.audience))
            #expect(claims["aud"] == "https://appleid.apple.com")
            let stored = try await social.auth.stage.rows("SELECT encode(refresh_sealed, 'escape') FROM identities")
            #expect(!stored.isEmpty && !stored.contains("r.apple"), "it is kept sealed")

            _ = try await social.auth.ask(UnlinkIdentity(provider: "apple"), as: social.actor(owner))
            try await social.waitUntilSent()
            #expect(forms("/revoke", social).map { $0["token"] } == ["r.apple"])
            #expect(forms("/revoke", social).first?["token_type_hint"] == "refresh_token")
        }
    }

    @Test func aLateAppleTokenIsStoredWithItsIdentity() async throws {
        try await SocialStage.run { social in
            social.apple.manner = .answers(status: 500, body: "")
            _ = try await social.link("apple", subject: "1", to: Self.phone, code: "c0de")
            social.apple.manner = .answers(status: 200, body: #"{"refresh_token":"r.apple"}"#)
            try await social.auth.stage.rows("UPDATE outbox SET due_at = now()")
            try await social.waitUntilSent()
            #expect(try await social.auth.stage.rows("SELECT count(refresh_sealed) FROM identities") == "1")
        }
    }

    /// A code lives for five minutes: its ten attempts spread over most of that.
    @Test func aCodeIsRetriedWithinItsLifetime() async throws {
        try await SocialStage.run { social in
            social.apple.manner = .answers(status: 503, body: "")
            _ = try await social.linkToken("apple", subject: "1", code: "c0de")
            #expect(try await eventually { forms("/token", social).count == 1 })
            try await social.auth.stage.rows(
                "UPDATE outbox SET attempts = 7, due_at = now() WHERE destination = 'apple-exchange'")
            let waits = "SELECT count(*) FROM outbox WHERE attempts = 8 AND due_at > now() + interval '30 s'"
            #expect(try await eventually { try await social.auth.stage.rows(waits) == "1" })
            social.apple.manner = .answers(status: 200, body: #"{"refresh_token":"r.late"}"#)
            try await social.auth.stage.rows("UPDATE outbox SET due_at = now()")
            let isKept = "SELECT count(*) FROM link_tokens WHERE refresh_sealed IS NOT NULL"
            #expect(try await eventually { try await social.auth.stage.rows(isKept) == "1" })
        }
    }

    @Test func aDeletionRevokesDespiteAnOutageOfApple() async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("apple", subject: "1", to: Self.phone, code: "c0de")
            try await social.waitUntilSent()
            social.apple.manner = .answers(status: 503, body: "")
            _ = try await social.auth.ask(DeleteAccount(), as: social.actor(owner))
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "0")
            for attempt in 1...15 {
                #expect(try await eventually { forms("/revoke", social).count >= attempt })
                // A failed revocation is queued again as a new item with no attempts.
                let next = "SELECT count(*) = 1 AND bool_and(attempts = 0) FROM outbox WHERE message_type IS NULL"
                #expect(try await eventually { try await social.auth.stage.rows(next) == "t" })
                let isDead = "SELECT count(*) FROM outbox WHERE message_type IS NULL AND dead_at IS NOT NULL"
                #expect(try await social.auth.stage.rows(isDead) == "0")
                try await social.auth.stage.rows("UPDATE outbox SET due_at = now()")
            }
            social.apple.manner = .answers(status: 200, body: "")
            try await social.auth.stage.rows("UPDATE outbox SET due_at = now()")
            try await social.waitUntilSent()
            #expect(Set(forms("/revoke", social).map { $0["token"] }) == ["r.apple"])
        }
    }

    @Test func aRevocationIsGivenUpAfterADay() async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("apple", subject: "1", to: Self.phone, code: "c0de")
            try await social.waitUntilSent()
            social.apple.manner = .answers(status: 503, body: "")
            let container = social.auth.stage.containers[0]
            let hurried = AppleTokens(
                database: container.database, outbox: container.outbox, log: container.log,
                secrets: Secrets(container.keys),
                client: nil, patience: .zero)
            try await container.database.transaction { try await hurried.revokeAll(of: owner.user.id, in: $0) }
            try await social.waitUntilSent()
            #expect(forms("/revoke", social).count == 1)
            #expect(social.auth.stage.log.text.contains("apple_revocation_given_up"))
        }
        var waited = Duration.zero
        for failures in 0..<100 { waited += AppleTokens.pause(afterFailures: failures) }
        #expect(Duration.seconds(80_000)...Duration.seconds(100_000) ~= waited, "some hundred times within the day")
    }

    @Test("a withdrawn consent ends the link", arguments: ["consent-revoked", "account-delete", "account-deleted"])
    func consent(type: String) async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("apple", subject: "1", to: Self.phone)
            let opened = try #require(try await social.session("apple", subject: "1"))
            let told = TakeAppleNotification(payload: social.forge.notification(type, subject: "1", id: "n1"))
            _ = try await social.auth.ask(told)
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "0")
            #expect(try await !social.auth.ask(CheckSession(sessionID: opened.sessionId)).isActive)
            #expect(try await social.auth.ask(CheckSession(sessionID: owner.sessionId)).isActive)
            // Linked again, the same notification has no effect any more.
            _ = try await social.link("apple", subject: "1", to: Self.phone)
            _ = try await social.auth.ask(told)
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "1")
            _ = try await social.auth.ask(
                TakeAppleNotification(payload: social.forge.notification(type, subject: "2", id: "n2")))
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "1", "somebody else")
        }
    }

    @Test func aChangedAddressIsShownFromThenOn() async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("apple", subject: "1", to: Self.phone)
            let payload = social.forge.notification("email-enabled", subject: "1", id: "n1", email: "x@relay.example")
            _ = try await social.auth.ask(TakeAppleNotification(payload: payload))
            let shown = try await social.auth.ask(ListIdentities(), as: social.actor(owner)).identities
            #expect(shown.map(\.email) == ["x…@r…"])
            #expect(
                try await social.auth.stage.rows("SELECT details FROM audit WHERE act = 'identity_email_changed'")
                    == #"{"provider":"apple"}"#, "and never to which")
        }
    }

    @Test func aForgedStaleOrMalformedNotificationIsRefused() async throws {
        try await SocialStage.run { social in
            _ = try await social.link("apple", subject: "1", to: Self.phone)
            let forge = social.forge
            let good = forge.notification("consent-revoked", subject: "1", id: "n1")
            var claims = forge.claims("apple", subject: "1", nonce: "n")
            claims["jti"] = "n1"
            let bad = [
                IdentityForge().notification("consent-revoked", subject: "1", id: "n1"),
                forge.notification("consent-revoked", subject: "1", id: ""),
                forge.notification("consent-revoked", subject: "", id: "n1"),
                forge.notification("consent-revoked", subject: "1", id: "n1", age: 7 * 86_400 + 5),
                forge.notification("consent-revoked", subject: "1", id: "n1", age: -65),
                forge.sign(forge.header, .object(claims)), good + "A", "x",
                forge.sign(forge.header, .object(claims.merging(["events": "no JSON"]) { $1 })),
                forge.sign(
                    forge.header, .object(claims.merging(["events": "{}", "iss": "https://evil.example"]) { $1 })),
                forge.token("google", subject: "1", nonce: "n"),
            ]
            for payload in bad {
                let refused = try await social.auth.refusal(of: TakeAppleNotification(payload: payload))
                #expect(refused.code == "identity_token_invalid")
            }
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM apple_notifications") == "0")
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "1")
        }
    }
}
