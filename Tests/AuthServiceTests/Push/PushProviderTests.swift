import BusProtocol
import Cryptography
import EventLoop
import Foundation
import HTTPServer
import JSONText
import ProviderHTTP
import ServiceRuntime
import TestSupport
import Testing

@testable import AuthService

@Suite("push providers") struct PushProviderTests {
    private static let key = "a key that only the test has, 32+"
    private static let push = OutgoingPush(
        id: .ordered(), notificationID: .ordered(), personID: .random(), deviceID: .ordered(), token: "t1",
        title: "New sign-in", body: "å & b", data: ["kind": "new_device", "platform": "web"])

    @Loop private static func webhook(_ server: ProviderServer) throws -> WebhookProvider {
        WebhookProvider(webhook: Webhook(url: try #require(URL(string: server.url + "/push")), key: Array(key.utf8)))
    }

    @Loop private static func fcm(_ server: ProviderServer) throws -> FCMProvider {
        let account = try #require(ServiceAccount(json: try GoogleServer.account(at: server.url)))
        return FCMProvider(
            base: try #require(URL(string: server.url)), project: account.project,
            access: GoogleAccess(account: account, exchange: try #require(URL(string: account.tokenURI))))
    }

    @Loop private static func refusal(_ provider: some PushProvider, within limit: Duration = .seconds(5)) async throws
        -> PushError
    {
        try #require(
            await #expect(throws: PushError.self) { try await provider.send(push, within: limit) })
    }

    @Test func anotherHMACVerifiesAWebhooksSignature() async throws {
        let server = try await ProviderServer(.answers(status: 204, body: ""))
        try await Self.webhook(server).send(Self.push, within: .seconds(5))
        let request = try #require(await server.requests.first)
        let headers = request.head.headers
        #expect(request.head.method == "POST" && request.head.path == "/push")
        #expect(headers.first("idempotency-key") == Self.push.id.description)
        let timestamp = try #require(headers.first("vestibule-timestamp"))
        let code = try OpenSSL.run(
            ["dgst", "-sha256", "-hmac", Self.key, "-r"], Array("\(timestamp).".utf8) + request.body
        ).prefix(64)
        #expect(headers.first("vestibule-signature") == "v1=\(code)")
        var body = try #require(try JSONValue.parse(request.body).objectValue)
        #expect(body.removeValue(forKey: "at") != nil)
        #expect(
            JSONValue.object(body) == [
                "id": .string(Self.push.id.description), "userId": .string(Self.push.personID.description),
                "deviceId": .string(Self.push.deviceID.description), "pushToken": "t1", "title": "New sign-in",
                "body": "å & b", "data": ["kind": "new_device", "platform": "web"],
            ])
        await server.stop()
    }

    @Test(
        "each refusal of a webhook has its error",
        arguments: [
            (410, [:], .deadToken), (500, [:], .notTaken(reason: "http_500", retryAfter: nil)),
            (404, [:], .notTaken(reason: "http_404", retryAfter: nil)),
            (429, ["Retry-After": "7"], .notTaken(reason: "http_429", retryAfter: .seconds(7))),
        ] as [(Int, HTTPHeaders, PushError)])
    func webhookRefusals(status: Int, headers: HTTPHeaders, error: PushError) async throws {
        let server = try await ProviderServer(.answers(status: status, body: "", headers: headers))
        #expect(try await Self.refusal(Self.webhook(server)) == error)
        await server.stop()
    }

    @Test func aHangingWebhookTimesOut() async throws {
        let server = try await ProviderServer(.hangs)
        let error = try await Self.refusal(Self.webhook(server), within: .milliseconds(100))
        #expect(error == .notTaken(reason: "no_answer", retryAfter: nil))
        await server.stop()
    }

    @Test func fcmGetsAnAccessTokenForASignedAssertionAndThenThePush() async throws {
        let server = try await ProviderServer(GoogleServer.takesAll)
        try await Self.fcm(server).send(Self.push, within: .seconds(5))
        let requests = await server.requests
        #expect(requests.map(\.head.path) == ["/token", "/v1/projects/vestibule-test/messages:send"])
        let form = String(decoding: try #require(requests.first).body, as: UTF8.self)
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(form.hasPrefix(prefix))
        let parts = form.dropFirst(prefix.count).split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        #expect(try GoogleServer.isValid(signature: parts[2], for: "\(parts[0]).\(parts[1])"))
        let header = try JSONValue.parse(try #require(Base64URL.decode(parts[0])))
        #expect(header == ["alg": "RS256", "kid": "key-1", "typ": "JWT"])
        let claims = try JSONValue.parse(try #require(Base64URL.decode(parts[1])))
        #expect(claims["iss"] == "push@vestibule-test.iam.gserviceaccount.com")
        #expect(claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging")
        #expect(await claims["aud"] == .string(server.url + "/token"))
        guard case .integer(let issued)? = claims["iat"] else { throw CocoaError(.coderValueNotFound) }
        #expect(abs(Double(issued) - Date().timeIntervalSince1970) < 60 && claims["exp"] == .integer(issued + 3600))

        let sent = try #require(requests.last)
        #expect(sent.head.headers.first("authorization") == "Bearer ya29.1")
        let id = JSONValue.string(Self.push.notificationID.description)
        #expect(
            try JSONValue.parse(sent.body) == [
                "message": [
                    "token": "t1", "notification": ["title": "New sign-in", "body": "å & b"],
                    "data": [
                        "kind": "new_device", "platform": "web", "userId": .string(Self.push.personID.description),
                    ],
                    "android": ["priority": "high", "notification": ["tag": id]],
                    "apns": ["headers": ["apns-collapse-id": id, "apns-priority": "10"]],
                ]
            ])
        await server.stop()
    }

    @Test func oneExchangeServesManyPushesUntilAMinuteBeforeItsEnd() async throws {
        let server = try await ProviderServer(GoogleServer.takesAll)
        let fcm = try await Self.fcm(server)
        _ = try await atOnce(12) { try await fcm.send(Self.push, within: .seconds(5)) }
        try await fcm.send(Self.push, within: .seconds(5))
        #expect(await server.requests.count { $0.head.path == "/token" } == 1)
        #expect(await server.requests.count == 14)
        await server.stop()
        // A token that is valid for only a minute is used for one request, and not again.
        let hasty = try await ProviderServer(GoogleServer.manner(expiresIn: 60) { _ in GoogleServer.taken })
        let other = try await Self.fcm(hasty)
        for _ in 0..<2 { try await other.send(Self.push, within: .seconds(5)) }
        #expect(await hasty.requests.count { $0.head.path == "/token" } == 2)
        await hasty.stop()
    }

    @Test func aRefusedAccessTokenIsExchangedAgain() async throws {
        let server = try await ProviderServer(
            GoogleServer.manner { _ in .answers(status: 401, body: #"{"error":{"code":401}}"#) })
        let fcm = try await Self.fcm(server)
        #expect(try await Self.refusal(fcm) == .notTaken(reason: "http_401", retryAfter: nil))
        await set(server, GoogleServer.takesAll)
        try await fcm.send(Self.push, within: .seconds(5))
        #expect(await server.requests.count { $0.head.path == "/token" } == 2)
        await server.stop()
    }

    @Test func aFailedTokenExchangeFailsAllWaitingPushes() async throws {
        let server = try await ProviderServer(
            .answers(status: 503, body: "", headers: ["Retry-After": "30"]))
        let fcm = try await Self.fcm(server)
        let errors = try await atOnce(4) { try await Self.refusal(fcm) }
        #expect(errors.allSatisfy { $0 == .notTaken(reason: "access_http_503", retryAfter: .seconds(30)) })
        #expect(await server.requests.allSatisfy { $0.head.path == "/token" })
        await set(server, GoogleServer.takesAll)
        try await fcm.send(Self.push, within: .seconds(5))
        await server.stop()
    }

    @Loop private func set(_ server: ProviderServer, _ manner: ProviderServer.Manner) { server.manner = manner }

    @Test(
        "each refusal of FCM has its error",
        arguments: [
            (404, GoogleServer.unregistered, .deadToken),
            (404, #"{"error":{"code":404,"status":"NOT_FOUND"}}"#, .notTaken(reason: "http_404", retryAfter: nil)),
            (400, GoogleServer.invalidToken, .deadToken),
            (
                400,
                #"{"error":{"code":400,"details":[{"fieldViolations":[{"field":"message.token"}]}]}}"#, .deadToken
            ),
            (
                400,
                #"{"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT","details":[{"fieldViolations":[{"field":"message.data[0].value"}]}]}}"#,
                .notTaken(reason: "http_400", retryAfter: nil)
            ),
            (
                403, #"{"error":{"code":403,"details":[{"errorCode":"SENDER_ID_MISMATCH"}]}}"#,
                .notTaken(reason: "http_403", retryAfter: nil)
            ), (500, "not JSON", .notTaken(reason: "http_500", retryAfter: nil)),
        ] as [(Int, String, PushError)])
    func fcmRefusals(status: Int, body: String, error: PushError) async throws {
        let server = try await ProviderServer(
            GoogleServer.manner { _ in .answers(status: status, body: body) })
        #expect(try await Self.refusal(Self.fcm(server)) == error)
        await server.stop()
    }

    // MARK: Configuration

    private static func name(_ changes: [String: String]) throws -> String {
        let complete = try [
            "PUSH_WEBHOOK_URL": "https://push.example/send", "PUSH_WEBHOOK_KEY": key,
            "PUSH_FCM_SERVICE_ACCOUNT": GoogleServer.account(at: "https://oauth2.example"), "SPOOL_DIR": "/",
            "VESTIBULE_PROFILE": "development",
        ]
        let configuration = try Configuration(
            variables: AuthServiceDefinition.definition.variables, prefix: "AUTH_",
            environment: complete.merging(changes) { $1 })
        return "\(type(of: try PushProviders.named(configuration)))"
    }

    @Test func theProductionProfileStartsWithAWebhookOrFCM() throws {
        #expect(try Self.name([:]) == "SpoolProvider")
        for (name, type) in [("webhook", "WebhookProvider"), ("fcm", "FCMProvider")] {
            #expect(try Self.name(["PUSH_PROVIDER": name, "VESTIBULE_PROFILE": "production"]) == type)
        }
    }

    @Test func aServiceAccountMayStandInAFile() throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = "\(folder.path)/account.json"
        try GoogleServer.account(at: "https://oauth2.example").write(toFile: path, atomically: false, encoding: .utf8)
        let changes = [
            "PUSH_PROVIDER": "fcm", "PUSH_FCM_SERVICE_ACCOUNT": "", "PUSH_FCM_SERVICE_ACCOUNT_FILE": path,
        ]
        #expect(try Self.name(changes) == "FCMProvider")
    }

    @Test(
        "a wrong push configuration stops the start",
        arguments: [
            (
                ["VESTIBULE_PROFILE": "production"],
                "PUSH_PROVIDER: the production profile does not allow the provider spool"
            ),
            (["PUSH_PROVIDER": "apns"], "PUSH_PROVIDER"), (["SPOOL_DIR": ""], "SPOOL_DIR"),
            (["PUSH_PROVIDER": "webhook", "PUSH_WEBHOOK_KEY": "short"], "PUSH_WEBHOOK_KEY"),
            (["PUSH_PROVIDER": "webhook", "PUSH_WEBHOOK_URL": ""], "PUSH_WEBHOOK_URL"),
            (
                [
                    "PUSH_PROVIDER": "webhook", "PUSH_WEBHOOK_URL": "http://push.example",
                    "VESTIBULE_PROFILE": "staging",
                ], "PUSH_WEBHOOK_URL"
            ),
            (
                ["PUSH_PROVIDER": "fcm", "PUSH_FCM_SERVICE_ACCOUNT": ""],
                "PUSH_FCM_SERVICE_ACCOUNT or PUSH_FCM_SERVICE_ACCOUNT_FILE"
            ), (["PUSH_PROVIDER": "fcm", "PUSH_FCM_SERVICE_ACCOUNT": "{}"], "PUSH_FCM_SERVICE_ACCOUNT"),
            (["PUSH_PROVIDER": "fcm", "PUSH_FCM_URL": "ftp://x"], "PUSH_FCM_URL"),
        ] as [([String: String], String)])
    func refusedConfigurations(changes: [String: String], named: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.name(changes) }
        #expect(error?.description.contains(named) == true)
    }

    @Test func anAssertionCrossesNoNetworkInTheClear() throws {
        let changes = try [
            "PUSH_PROVIDER": "fcm", "PUSH_FCM_SERVICE_ACCOUNT": GoogleServer.account(at: "http://oauth2.example"),
        ]
        #expect(try Self.name(changes) == "FCMProvider")
        let error = #expect(throws: ConfigurationError.self) {
            try Self.name(changes.merging(["VESTIBULE_PROFILE": "production"]) { $1 })
        }
        #expect(error?.description.contains("token_uri") == true)
    }
}
