import Foundation
import Testing

@testable import VestibuleClient

@Suite("session of the client") struct SessionTests {
    private let store = LockableStore()
    private let time = TestClock()

    private func client(
        retries: RetryPolicy = .once,
        _ answers: @escaping @Sendable (TransportRequest, Int) async throws -> TransportAnswer
    ) throws -> (Vestibule, ScriptedWire) {
        let wire = ScriptedWire(answers)
        let address = try #require(URL(string: "https://api.example.org"))
        return (
            Vestibule(address, store: store, transport: wire, retries: retries, clock: time.clock), wire
        )
    }

    private let claim = VerifyOTPRequest(
        challengeId: UUID(), code: "123456", device: DeviceClaim(name: "Phone", platform: .ios))

    /// Signs in, and gives every further request to `answers`.
    private func signedIn(
        retries: RetryPolicy = .once, seconds: Int = 900,
        _ answers: @escaping @Sendable (TransportRequest, Int) async throws -> TransportAnswer
    ) async throws -> (Vestibule, ScriptedWire) {
        let (client, wire) = try client(retries: retries) { request, number in
            number == 0
                ? .session("1", secret: "ds_1", seconds: seconds) : try await answers(request, number)
        }
        _ = try await client.verifyOTP(claim)
        return (client, wire)
    }

    private static let refresh = "/auth/token/refresh"

    /// Answers a renewal with these tokens, and takes no other access token.
    private static func taking(_ name: String) -> @Sendable (TransportRequest, Int) async throws -> TransportAnswer {
        { request, _ in
            if request.url.path == refresh { return .session(name) }
            return request.token == "at_\(name)" ? .json(200, #"{"sessions": []}"#) : .problem(401, "token_expired")
        }
    }

    // MARK: Signing in and out

    @Test("a sign-in is kept, and the next start of the app goes on with it")
    func nextStart() async throws {
        let (first, _) = try await signedIn { _, _ in throw URLError(.notConnectedToInternet) }
        #expect(try await first.state() == .signedIn(person: TransportAnswer.somebody))
        let (second, wire) = try client { _, _ in .json(200, #"{"sessions": []}"#) }
        _ = try await second.listSessions()
        #expect(await wire.requests.map(\.token) == ["at_1"])
    }

    @Test("answers of one person wait while another is signed in")
    func answersOfAnother() async throws {
        let another = UUID()
        let (client, wire) = try await signedIn { request, _ in
            request.url.path == "/auth/otp/verify" ? .session("2", of: another) : .json(204, "")
        }
        let session = UUID()
        let queue = await client.answers(questionnaire: "yoked", session: session)
        try await queue.add(AnswerPlace("a"), value: 1, seen: 0)
        try await client.logout()
        _ = try await client.verifyOTP(claim)
        let before = await wire.requests.count
        let refused = await #expect(throws: VestibuleError.self) { try await queue.send() }
        guard case .signedOut = refused else { throw try #require(refused) }
        #expect(await wire.requests.count == before)
        #expect(try await queue.content().waiting.count == 1)
        #expect(await client.answers(questionnaire: "yoked", session: session) !== queue)
    }

    @Test("after a sign-out the next sign-in is that of a known device")
    func knownDevice() async throws {
        let (client, wire) = try await signedIn { request, _ in
            switch request.url.path {
            case "/auth/otp/verify": .session("2")
            case "/auth/otp/send": .problem(429, "rate_limited")
            default: .json(204, "")
            }
        }
        try await client.logout()
        #expect(try await client.state() == .signedOut(because: nil))
        _ = try? await client.sendOTP(SendOTPRequest(phone: "+46701234567"))
        _ = try await client.verifyOTP(claim)
        let proof: VestibuleClient.JSONValue = ["id": .string(TransportAnswer.phone.uuidString), "secret": "ds_1"]
        #expect(await wire.requests[2].member("device") == proof)
        let device = await wire.requests[3].member("device")?.object
        #expect(device?["secret"] == "ds_1" && device?["name"] == "Phone")
        #expect(try await client.device()?.secret == "ds_1")
    }

    @Test("after a deletion the device is forgotten")
    func forgotten() async throws {
        let (client, wire) = try await signedIn { _, _ in .problem(429, "rate_limited") }
        try await client.forget()
        #expect(try await client.state() == .signedOut(because: nil))
        #expect(try await client.device() == nil)
        _ = try? await client.sendOTP(SendOTPRequest(phone: "+46701234567"))
        #expect(await wire.requests.dropFirst().allSatisfy { $0.member("device") == nil })
    }

    @Test("an offline sign-out works on the device and throws an error")
    func signOutOffline() async throws {
        let (client, _) = try await signedIn { _, _ in throw URLError(.notConnectedToInternet) }
        await #expect(throws: VestibuleError.self) { try await client.logout() }
        #expect(try await client.state() == .signedOut(because: nil))
    }

    @Test("a sign-out with an expired token renews it to end the session")
    func signOutLate() async throws {
        let (client, wire) = try await signedIn { request, _ in
            if request.url.path == Self.refresh { return .session("2") }
            return request.token == "at_2" ? .json(204, "") : .problem(401, "token_expired")
        }
        try await client.logout()
        #expect(await wire.requests.dropFirst().map(\.url.path) == ["/auth/logout", Self.refresh, "/auth/logout"])
        #expect(try await client.state() == .signedOut(because: nil))
    }

    @Test("a call that needs a session is not sent without one")
    func nobody() async throws {
        let (client, wire) = try client { _, _ in .json(200, "{}") }
        guard case .signedOut = await #expect(throws: VestibuleError.self, performing: { try await client.getMe() })
        else {
            Issue.record("it was sent")
            return
        }
        #expect(await wire.requests.isEmpty)
    }

    @Test("an unreadable stored session is no session")
    func damaged() async throws {
        try store.write(Data("{".utf8), as: "session")
        #expect(try await client { _, _ in .json(200, "{}") }.0.state() == .signedOut(because: nil))
    }

    // MARK: Renewing

    @Test("concurrent calls renew an expired token once")
    func oneRenewal() async throws {
        let (client, wire) = try await signedIn(Self.taking("2"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await client.listSessions() } }
            try await group.waitForAll()
        }
        #expect(await wire.count(Self.refresh) == 1)
        let renewal = try #require(await wire.requests.first { $0.url.path == Self.refresh })
        #expect(renewal.member("refreshToken") == "rf_1" && renewal.member("deviceSecret") == "ds_1")
        #expect(renewal.token == nil && renewal.headers["Idempotency-Key"] != nil)
        #expect(try await client.device()?.secret == "ds_1")
    }

    @Test("a token is renewed a minute before its end", arguments: [(839.0, 0), (840, 1), (901, 1)])
    func early(seconds: Double, renewals: Int) async throws {
        let (client, wire) = try await signedIn(Self.taking(renewals == 0 ? "1" : "2"))
        time.pass(seconds)
        _ = try await client.listSessions()
        #expect(await wire.count(Self.refresh) == renewals)
        #expect(await wire.count("/auth/sessions") == 1)
    }

    @Test("while a token is good, a failed renewal does not hold a call up")
    func renewalFails() async throws {
        let (client, _) = try await signedIn { request, _ in
            if request.url.path == Self.refresh { throw URLError(.timedOut) }
            return .json(200, #"{"sessions": []}"#)
        }
        time.pass(870)
        _ = try await client.listSessions()
        time.pass(60)
        await #expect(throws: VestibuleError.self) { try await client.listSessions() }
        #expect(try await client.state() == .signedIn(person: TransportAnswer.somebody))
    }

    @Test("new tokens are saved before they are used")
    func savedFirst() async throws {
        let (store, answers) = (store, Self.taking("2"))
        let (client, wire) = try await signedIn { request, number in
            if request.url.path == "/auth/sessions", request.token == "at_2" {
                #expect(try store.read("session").map { String(decoding: $0, as: UTF8.self) }?.contains("at_2") == true)
            }
            return try await answers(request, number)
        }
        store.set(writes: false)
        guard case .store = await #expect(throws: VestibuleError.self, performing: { try await client.listSessions() })
        else {
            Issue.record("it was not the store")
            return
        }
        store.set()
        _ = try await client.listSessions()
        let renewals = await wire.requests.filter { $0.url.path == Self.refresh }
        #expect(renewals.map { $0.member("refreshToken") } == ["rf_1", "rf_1"])
    }

    @Test("tokens that another process of the app renewed are taken over")
    func otherProcess() async throws {
        let (client, wire) = try await signedIn(Self.taking("2"))
        let (other, _) = try self.client(Self.taking("2"))
        _ = try await other.listSessions()
        _ = try await client.listSessions()
        #expect(await wire.count(Self.refresh) == 0)
    }

    @Test("a token refused twice as expired is not renewed for ever")
    func wrongClock() async throws {
        let (client, wire) = try await signedIn { request, number in
            request.url.path == Self.refresh ? .session("\(number)") : .problem(401, "token_expired")
        }
        #expect(await #expect(throws: VestibuleError.self) { try await client.getMe() }?.code == .tokenExpired)
        #expect(await wire.count(Self.refresh) == 1)
    }

    // MARK: What ends a session

    @Test(
        "these answers of a call end the session, and no other",
        arguments: [
            (401, "token_revoked", true), (401, "unauthorized", true), (401, "identity_token_invalid", false),
            (403, "forbidden", false), (404, "not_found", false), (429, "rate_limited", false),
            (500, "internal_error", false), (503, "service_unavailable", false),
        ])
    func endings(status: Int, code: String, ends: Bool) async throws {
        let (client, _) = try await signedIn { _, _ in .problem(status, code) }
        await #expect(throws: VestibuleError.self) { try await client.getMe() }
        #expect(
            try await client.state()
                == (ends
                    ? .signedOut(because: ProblemCode(rawValue: code)) : .signedIn(person: TransportAnswer.somebody)))
        #expect(try await client.device() != nil)
    }

    @Test(
        "these answers of a renewal end the session, and no other",
        arguments: [
            (401, "refresh_token_reused", true), (401, "refresh_token_invalid", true), (429, "rate_limited", false),
            (500, "internal_error", false), (422, "validation_failed", false),
        ])
    func renewalEndings(status: Int, code: String, ends: Bool) async throws {
        let (client, _) = try await signedIn { request, _ in
            request.url.path == Self.refresh ? .problem(status, code) : .problem(401, "token_expired")
        }
        #expect(
            await #expect(throws: VestibuleError.self) { try await client.getMe() }?.code == ProblemCode(rawValue: code)
        )
        #expect(
            try await client.state()
                == (ends
                    ? .signedOut(because: ProblemCode(rawValue: code)) : .signedIn(person: TransportAnswer.somebody)))
    }

    @Test("an answer of a captive portal ends no session", arguments: [200, 302, 401, 511])
    func captivePortal(status: Int) async throws {
        let (client, _) = try await signedIn { _, _ in .json(status, "<html>") }
        await #expect(throws: VestibuleError.self) { try await client.getMe() }
        #expect(try await client.state() == .signedIn(person: TransportAnswer.somebody))
    }

    @Test("a locked store is an error of its own, and no sign-out")
    func lockedStore() async throws {
        _ = try await signedIn { _, _ in .json(204, "") }
        store.set(reads: false)
        let (client, wire) = try client { _, _ in .json(200, #"{"sessions": []}"#) }
        for _ in 0..<2 {
            guard case .store = await #expect(throws: VestibuleError.self, performing: { try await client.getMe() })
            else {
                Issue.record("it was not the store")
                return
            }
        }
        store.set()
        _ = try await client.listSessions()
        #expect(await wire.requests.map(\.token) == ["at_1"])
    }

    @Test("a sign-out during a renewal stays signed out")
    func signOutDuringRenewal() async throws {
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let (left, leave) = AsyncStream.makeStream(of: Void.self)
        let (client, _) = try await signedIn { request, _ in
            if request.url.path == Self.refresh {
                arrival.yield()
                for await _ in left { break }
                return .session("2")
            }
            return request.url.path == "/auth/logout" ? .json(204, "") : .problem(401, "token_expired")
        }
        async let call = client.getMe()
        for await _ in arrived { break }
        try await client.logout()
        leave.yield()
        do {
            _ = try await call
            Issue.record("the call went on")
        } catch VestibuleError.signedOut {
        }
        #expect(try await client.state() == .signedOut(because: nil))
    }

    @Test("a call that began for one person is not sent again for the next")
    func nextPerson() async throws {
        let other = UUID()
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let (left, leave) = AsyncStream.makeStream(of: Void.self)
        let (client, wire) = try await signedIn { request, _ in
            if request.url.path == "/auth/otp/verify" { return .session("3", of: other, secret: "ds_3") }
            arrival.yield()
            for await _ in left { break }
            return .problem(401, "token_expired")
        }
        async let call = client.getMe()
        for await _ in arrived { break }
        _ = try await client.verifyOTP(claim)
        leave.yield()
        do {
            _ = try await call
            Issue.record("the call went on")
        } catch VestibuleError.signedOut {
        }
        #expect(await wire.count("/users/me") == 1)
        #expect(try await client.state() == .signedIn(person: other))
    }

    @Test("the states come as a stream, with the reason of the end")
    func stream() async throws {
        let (client, _) = try client { _, number in number == 0 ? .session("1") : .problem(401, "token_revoked") }
        var states = await client.stateChanges().makeAsyncIterator()
        #expect(await states.next() == .signedOut(because: nil))
        _ = try await client.verifyOTP(claim)
        #expect(await states.next() == .signedIn(person: TransportAnswer.somebody))
        _ = try? await client.getMe()
        #expect(await states.next() == .signedOut(because: .tokenRevoked))
    }

    // MARK: Repeating

    @Test("a cut call is repeated with the same key and body")
    func sameKey() async throws {
        let (client, wire) = try await signedIn(retries: RetryPolicy()) { request, number in
            if number < 3 { throw URLError(.networkConnectionLost) }
            return .problem(404, "not_found")
        }
        _ = try? await client.verifyEmailCode(
            VerifyEmailCodeRequest(
                challengeId: UUID(), code: "123456", device: DeviceClaim(name: "Phone", platform: .ios), app: "app",
                entry: "entry"))
        let sent = await wire.requests.dropFirst()
        #expect(sent.count == 3 && Set(sent.map { $0.headers["Idempotency-Key"] }).count == 1)
        #expect(Set(sent.map(\.body)).count == 1)
        #expect(time.waits.map { ($0 * 1000).rounded() } == [300, 600])
    }

    @Test("a cancelled call is not repeated")
    func cancelled() async throws {
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let (client, wire) = try await signedIn(retries: RetryPolicy()) { _, _ in
            arrival.yield()
            try await Task.sleep(nanoseconds: 60_000_000_000)
            return .problem(404, "not_found")
        }
        let call = Task { _ = try await client.getMe() }
        for await _ in arrived { break }
        call.cancel()
        await #expect(throws: VestibuleError.self) { try await call.value }
        #expect(await wire.requests.count == 2)
    }

    @Test("the language of later calls can be changed")
    func language() async throws {
        let (client, wire) = try client { _, _ in .problem(404, "not_found") }
        await client.setLanguage("sv")
        _ = try? await client.getAuthMethods()
        #expect(await wire.requests.map { $0.headers["Accept-Language"] } == ["sv"])
    }
}
