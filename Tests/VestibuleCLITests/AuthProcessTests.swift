import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

/// Tests of auth that need one or two real processes.
@Suite("auth, process by process", .serialized) struct AuthProcessTests {
    private static let device = DeviceClaim(name: "Pixel 9", platform: "android")

    @Loop private func options() -> CallOptions {
        CallOptions(timeout: .seconds(10), clientAddress: "192.0.2.7")
    }

    /// One round trip reads everything that limits a send. The next one of the transaction writes.
    @Test func theLimitsOfACodeAreReadInOneRoundTrip() async throws {
        try await Fleet.run { fleet in
            let link = try FlightLink(to: fleet.cluster.folder)
            defer { link.close() }
            try fleet.start(.auth, through: link.folder)
            try await fleet.ready(.auth, 1)
            try await fleet.wait(until: "SELECT count(*) > 0 FROM auth.signing_keys", is: "t")
            _ = try await fleet.gateway.call(SendOTP(phone: "+14155552671"), options())
            let isSend = { (flight: String) in flight.contains("INSERT INTO challenges") }
            let connection = try #require(link.flights.first { $0.contains(where: isSend) })
            let index = try #require(connection.firstIndex(where: isSend))
            // Only a send uses these statements. So they are prepared on this connection for the first time, and the
            // test sees their text.
            let asked = connection[index - 1]
            for part in [
                "pg_advisory_xact_lock", "in_hour", "in_day", "address_in_hour", "challenge_locks", "prefix_breakers",
                "wrong_in_day", "site_in_hour", "sms_budget",
            ] {
                #expect(asked.contains(part), "\(part)")
            }
        }
    }

    /// Sends a request many times at once, to both processes in turn. It returns how often each outcome came.
    @Loop private func outcomes<Request: BusRequest>(
        of request: Request, times: Int, at replicas: [Bus], _ name: @escaping @Sendable (Request.Reply) -> String
    ) async throws -> [String: Int] {
        let tasks = (0..<times).map { number in
            Loop.spawn { () -> String in
                do throws(BusError) {
                    return name(try await replicas[number % replicas.count].call(request, options()))
                } catch {
                    return error.code
                }
            }
        }
        var outcomes: [String: Int] = [:]
        for task in tasks { outcomes[try await task.value, default: 0] += 1 }
        return outcomes
    }

    /// The right code, sixty-four times at once at two processes.
    @Test func aCodeShownToTwoProcessesAtOnceOpensOneSession() async throws {
        let variables = ["AUTH_OTP_PER_ADDRESS_HOUR": "100000", "AUTH_OTP_PREFIX_BREAKER": "off"]
        let rounds = Rounds.count(5, prove: 200)
        try await Fleet.run { fleet in
            for _ in 0..<2 { try fleet.start(.auth, variables: variables) }
            try await fleet.ready(.auth, 2)
            try await fleet.wait(until: "SELECT count(*) > 0 FROM auth.signing_keys", is: "t")
            let replicas = try await fleet.eachReplica(of: .auth)
            for round in 0..<rounds {
                let phone = "+1415555\(2000 + round)"
                let sent = try await fleet.gateway.call(SendOTP(phone: phone), options())
                let verify = VerifyOTP(
                    challengeId: sent.challengeId, code: try await fleet.code(for: phone), device: Self.device)
                let outcomes = try await outcomes(of: verify, times: 64, at: replicas) { _ in "session" }
                #expect(outcomes["session"] == 1, "\(outcomes)")
                // A request that waits too long gets `overloaded`, and has done nothing.
                #expect(Set(outcomes.keys).isSubset(of: ["session", "otp_expired", "overloaded"]), "\(outcomes)")
            }
            #expect(try await fleet.sql("SELECT count(*) FROM auth.sessions") == "\(rounds)")
        }
    }

    /// The limits of sends: one code a minute for a phone, so many an hour for an address, whichever process is asked.
    @Test func concurrentSendsAtTwoProcessesDoNotPassTheLimits() async throws {
        try await Fleet.run { fleet in
            let variables = ["AUTH_OTP_PER_ADDRESS_HOUR": "6", "AUTH_OTP_RESEND_AFTER": "60s"]
            for _ in 0..<2 { try fleet.start(.auth, variables: variables) }
            try await fleet.ready(.auth, 2)
            try await fleet.wait(until: "SELECT count(*) > 0 FROM auth.signing_keys", is: "t")
            let replicas = try await fleet.eachReplica(of: .auth)
            let toOne = SendOTP(phone: "+14155552671")
            let outcomes = try await outcomes(of: toOne, times: 32, at: replicas) { _ in "sent" }
            #expect(outcomes["sent"] == 1 && Set(outcomes.keys).isSubset(of: ["sent", "rate_limited", "overloaded"]))
            let fromOne = (0..<32).map { number in
                Loop.spawn {
                    try? await replicas[number % 2].call(SendOTP(phone: "+1415555\(3000 + number)"), options())
                }
            }
            var sent = 0
            for send in fromOne where try await send.value != nil { sent += 1 }
            // A request that waits too long for the address's lock is refused as overloaded.
            #expect((1...5).contains(sent))
        }
    }

    /// A client that loses its answers sends the same refresh token fifty times at once, to two processes.
    @Test func aRefreshTokenUsedAtTwoProcessesLeavesOneValidToken() async throws {
        try await Fleet.run { fleet in
            for _ in 0..<2 { try fleet.start(.auth) }
            try await fleet.ready(.auth, 2)
            try await fleet.wait(until: "SELECT count(*) > 0 FROM auth.signing_keys", is: "t")
            let replicas = try await fleet.eachReplica(of: .auth)
            let phone = "+14155552671"
            let sent = try await fleet.gateway.call(SendOTP(phone: phone), options())
            let signIn = VerifyOTP(
                challengeId: sent.challengeId, code: try await fleet.code(for: phone), device: Self.device)
            var token = try await fleet.gateway.call(signIn, options()).refreshToken
            for _ in 0..<5 {
                let refresh = RefreshToken(refreshToken: token)
                let outcomes = try await outcomes(of: refresh, times: 50, at: replicas) { $0.refreshToken }
                let pairs = outcomes.keys.filter { $0 != "overloaded" }
                #expect(pairs.count == 1, "\(pairs.count) different answers")
                token = try #require(pairs.first)
                #expect(token.hasPrefix("rf_"), "nobody is logged out")
            }
            let living = "SELECT count(*) FROM auth.refresh_tokens WHERE replaced_at IS NULL"
            #expect(try await fleet.sql(living) == "1")
            #expect(try await fleet.sql("SELECT count(*) FROM auth.sessions WHERE revoked_at IS NULL") == "1")
        }
    }

    /// One nonce, one success: the same token at both processes, many times at once.
    @Test func aNonceShownToTwoProcessesAtOnceCountsOnce() async throws {
        let forge = IdentityForge()
        let keySet = String(decoding: CanonicalJSON.bytes(of: forge.keySet), as: UTF8.self)
        let keys = try await ProviderServer(.answers(status: 200, body: keySet))
        let variables = IdentityForge.variables(keySet: await keys.url)
        try await Fleet.run { fleet in
            for _ in 0..<2 { try fleet.start(.auth, variables: variables) }
            try await fleet.ready(.auth, 2)
            try await fleet.wait(until: "SELECT count(*) > 0 FROM auth.signing_keys", is: "t")
            let replicas = try await fleet.eachReplica(of: .auth)
            @Loop func presented() async throws -> SignInWithGoogle {
                let nonce = try await fleet.gateway.call(IssueSocialNonce(provider: "google"), options()).nonce
                return SignInWithGoogle(
                    identityToken: forge.token("google", subject: "108", nonce: nonce), nonce: nonce,
                    device: Self.device)
            }
            guard case .phoneVerificationRequired(let link) = try await fleet.gateway.call(presented(), options())
            else {
                Issue.record("the identity is linked already")
                return
            }
            let phone = "+14155552671"
            let sent = try await fleet.gateway.call(SendOTP(phone: phone, linkToken: link.linkToken), options())
            let code = try await fleet.code(for: phone)
            _ = try await fleet.gateway.call(
                VerifyOTP(challengeId: sent.challengeId, code: code, device: Self.device), options())
            for _ in 0..<20 {
                let request = try await presented()
                let outcomes = try await outcomes(of: request, times: 16, at: replicas) { answer in
                    if case .session = answer { "session" } else { "link" }
                }
                #expect(outcomes["session"] == 1, "\(outcomes)")
                #expect(Set(outcomes.keys).isSubset(of: ["session", "identity_token_invalid", "overloaded"]))
            }
            #expect(try await fleet.sql("SELECT count(*) FROM auth.sessions") == "21")
        }
        await keys.stop()
    }

    /// Whether this user may give a process a file system of its own.
    static let mayMount =
        (try? Subprocess.run(["unshare", "--mount", "--", "mount", "--bind", "/tmp", "/mnt"])) != nil

    /// Auth sends to a provider only over TLS. The system must know the authority of the certificate, and the host must
    /// be the requested one.
    @Test(
        "a provider behind TLS", .bounded,
        .enabled(if: AuthProcessTests.mayMount, "the system's authorities are replaced for one process"),
        arguments: [("localhost", true, true), ("other.example", true, false), ("localhost", false, false)])
    func overTLS(host: String, isTrusted: Bool, isTaken: Bool) async throws {
        let (authority, stranger) = (try TestAuthority(), try TestAuthority())
        defer { for each in [authority, stranger] { each.remove() } }
        let server = try TLSServer(authority.issue(for: host))
        defer { server.stop() }
        let second = try await ProviderServer(.answers(status: 201, body: "{}"))
        let variables = [
            "SMS_PROVIDER": "webhook,twilio", "SMS_WEBHOOK_URL": "https://localhost:\(server.port)/sms",
            "SMS_WEBHOOK_KEY": "a key that only the test has, 32+", "SMS_TWILIO_URL": await second.url,
            "SMS_TWILIO_ACCOUNT": "AC0", "SMS_TWILIO_TOKEN": "t", "SMS_TWILIO_FROM": "MG0",
        ]
        try await Fleet.run { fleet in
            try fleet.start(
                .auth, variables: variables, trusting: (isTrusted ? authority : stranger).certificate)
            try await fleet.ready(.auth, 1)
            let began = MonotonicClock.now()
            _ = try await fleet.gateway.call(SendOTP(phone: "+14155552671"), options())
            #expect(
                try await eventually {
                    server.text.contains("POST /sms") || second.requests.count == 1
                }
            )
            #expect(
                MonotonicClock.now() < began + Duration.seconds(5).nanoseconds,
                .time("or the next had its turn too late"))
            try await fleet.wait(until: "SELECT count(*) FROM auth.outbox", is: "0")
            #expect(server.text.contains("+14155552671") == isTaken)
            #expect(second.requests.count == (isTaken ? 0 : 1))
        }
        await second.stop()
    }
}
