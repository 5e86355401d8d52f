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

@Suite("SMS providers") struct SMSProviderTests {
    private static let phone = "+14155552671"
    private static let key = "a key that only the test has, 32+"
    private static let sms = OutgoingMessage(id: .ordered(), to: phone, body: "1 & 2 = åä")

    @Loop private static func webhook(_ server: ProviderServer) throws -> WebhookProvider {
        WebhookProvider(webhook: Webhook(url: try #require(URL(string: server.url + "/sms")), key: Array(key.utf8)))
    }

    @Loop private static func twilio(_ server: ProviderServer, from: String = "+15005550006") throws -> TwilioProvider {
        TwilioProvider(base: try #require(URL(string: server.url)), account: "AC0", token: "t", from: from)
    }

    /// Both providers stand behind a service; the second one is Twilio's.
    private static func run(
        _ first: ProviderServer.Manner, _ second: ProviderServer.Manner,
        _ body: @escaping @Loop @Sendable (AuthStage, ProviderServer, ProviderServer) async throws -> Void
    ) async throws {
        let servers = try await (ProviderServer(first), ProviderServer(second))
        let variables = await [
            "SMS_PROVIDER": "webhook,twilio", "SMS_WEBHOOK_URL": servers.0.url, "SMS_WEBHOOK_KEY": key,
            "SMS_TWILIO_URL": servers.1.url, "SMS_TWILIO_ACCOUNT": "AC0", "SMS_TWILIO_TOKEN": "t",
            "SMS_TWILIO_FROM": "MG0",
        ]
        try await AuthStage.run(environment: variables) { try await body($0, servers.0, servers.1) }
        await servers.0.stop()
        await servers.1.stop()
    }

    private static let taken = ProviderServer.Manner.answers(status: 201, body: "{}")
    private static let failing = ProviderServer.Manner.answers(status: 503, body: "")

    private static func notTaken(_ reason: String) -> MessageError {
        .notTaken(host: "127.0.0.1", ProviderFailure(reason))
    }

    @Test func anotherHMACVerifiesAWebhooksSignature() async throws {
        let server = try await ProviderServer(Self.taken)
        try await Self.webhook(server).send(Self.sms, within: .seconds(5))
        let request = try #require(await server.requests.first)
        let headers = request.head.headers
        let body = try JSONValue.parse(request.body)
        #expect(request.head.method == "POST" && request.head.path == "/sms")
        #expect(headers.first("idempotency-key") == Self.sms.id.description)
        #expect(body["id"]?.stringValue == Self.sms.id.description && body["body"]?.stringValue == Self.sms.body)
        #expect(body["to"]?.stringValue == Self.phone && body["at"]?.stringValue != nil)
        let timestamp = try #require(headers.first("vestibule-timestamp"))
        #expect(abs(Date().timeIntervalSince1970 - (Double(timestamp) ?? 0)) < 60)
        let signed = Array("\(timestamp).".utf8) + request.body
        let code = try OpenSSL.run(["dgst", "-sha256", "-hmac", Self.key, "-r"], signed).prefix(64)
        #expect(headers.first("vestibule-signature") == "v1=\(code)")
        await server.stop()
    }

    @Test func twilioGetsAFormWithItsCredentials() async throws {
        let server = try await ProviderServer(Self.taken)
        try await Self.twilio(server).send(Self.sms, within: .seconds(5))
        try await Self.twilio(server, from: "MG1").send(Self.sms, within: .seconds(5))
        let requests = await server.requests
        let request = try #require(requests.first)
        #expect(request.head.path == "/2010-04-01/Accounts/AC0/Messages.json")
        #expect(request.head.headers.first("authorization") == "Basic QUMwOnQ=")
        let rest = "Body=1%20%26%202%20%3D%20%C3%A5%C3%A4"
        #expect(String(decoding: request.body, as: UTF8.self) == "To=%2B14155552671&From=%2B15005550006&\(rest)")
        let last = try #require(requests.last)
        #expect(String(decoding: last.body, as: UTF8.self) == "To=%2B14155552671&MessagingServiceSid=MG1&\(rest)")
        await server.stop()
    }

    @Test(
        "each refusal of Twilio has its error",
        arguments: [
            (400, #"{"code": 21211}"#, MessageError.unusableContact), (400, #"{"code": 21614}"#, .unusableContact),
            (400, #"{"code": 21408}"#, notTaken("http_400")), (401, #"{"code": 20003}"#, notTaken("http_401")),
            (429, "", notTaken("http_429")), (500, #"{"code": 21211}"#, notTaken("http_500")),
        ])
    func refusals(status: Int, body: String, error: MessageError) async throws {
        let server = try await ProviderServer(.answers(status: status, body: body))
        let twilio = try await Self.twilio(server)
        await #expect(throws: error) { try await twilio.send(Self.sms, within: .seconds(5)) }
        await server.stop()
    }

    @Test func redirectsAndEndlessAnswersAreRefused() async throws {
        let other = try await ProviderServer(Self.taken)
        let long = String(repeating: "x", count: ProviderClient.largestAnswerBytes + 1)
        let answers: [(ProviderServer.Manner, String)] = [
            (.redirects(to: await other.url), "http_307"), (.answers(status: 200, body: long), "answer_too_large"),
        ]
        for (manner, reason) in answers {
            let server = try await ProviderServer(manner)
            let webhook = try await Self.webhook(server)
            await #expect(throws: Self.notTaken(reason)) { try await webhook.send(Self.sms, within: .seconds(5)) }
            #expect(await server.requests.count == 1)
            await server.stop()
        }
        #expect(await other.requests.isEmpty)
        await other.stop()
    }

    @Test func aFailedSMSNamesItsReason() async throws {
        let hanging = try await ProviderServer(.hangs)
        let webhook = try await Self.webhook(hanging)
        await #expect(throws: Self.notTaken("no_answer")) {
            try await webhook.send(Self.sms, within: .milliseconds(50))
        }
        await hanging.stop()
        await #expect(throws: Self.notTaken("connection_refused")) {
            try await webhook.send(Self.sms, within: .seconds(5))
        }
        // A name that the standard reserves for having no address.
        let nowhere = WebhookProvider(webhook: Webhook(url: try #require(URL(string: "https://sms.invalid/")), key: []))
        let error = await #expect(throws: MessageError.self) { try await nowhere.send(Self.sms, within: .seconds(5)) }
        guard case .notTaken(let host, _)? = error else { return }
        #expect(host == "sms.invalid")
    }

    /// The first person learns within ten seconds that the code failed. Later requests are refused, and promise no
    /// code.
    @Test(.bounded) func withNoProviderListeningTheFirstCodeFailsWithinTenSeconds() async throws {
        try await Self.run(Self.taken, Self.taken) { auth, first, second in
            await first.stop()
            await second.stop()
            let start = ContinuousClock.now
            let sent = try await auth.ask(SendOTP(phone: Self.phone)).challengeId
            let areBothRefused = try await eventually {
                auth.stage.log.text.components(separatedBy: #""error":"connection_refused""#).count > 2
            }
            #expect(areBothRefused)
            #expect(auth.stage.log.text.contains(#""host":"127.0.0.1""#))
            let isKnown = try await eventually(within: .seconds(2)) {
                let state = try await auth.ask(GetCodeDelivery(challengeId: sent))
                return state.delivery == "queued"
            }
            #expect(isKnown)
            #expect(try await auth.refusal(of: SendOTP(phone: "+14155552673")).code == "sms_unavailable")
            #expect(
                try await eventually { try await auth.ask(GetCodeDelivery(challengeId: sent)).delivery == "failed" })
            #expect(ContinuousClock.now - start < .seconds(10), .time)
        }
    }

    @Test func theSecondProviderSendsWhenTheFirstRefuses() async throws {
        try await Self.run(Self.failing, Self.taken) { auth, first, second in
            _ = try await auth.ask(SendOTP(phone: Self.phone))
            #expect(try await eventually { second.requests.count == 1 })
            #expect(first.requests.count == 1)
            #expect(try await eventually { auth.stage.log.text.contains("sms_not_taken") })
            #expect(!auth.stage.log.text.contains("4155552671"))
        }
    }

    @Test func theSecondProviderSendsWhenTheFirstIsDown() async throws {
        try await Self.run(Self.taken, Self.taken) { auth, first, second in
            await first.stop()
            _ = try await auth.ask(SendOTP(phone: Self.phone))
            #expect(try await eventually { second.requests.count == 1 })
        }
    }

    @Test(.timed) func theSecondProviderSendsWithinFiveSecondsWhenTheFirstHangs() async throws {
        try await Self.run(.hangs, Self.taken) { auth, first, second in
            let start = ContinuousClock.now
            for last in 1...3 {
                let asked = ContinuousClock.now
                _ = try await auth.ask(SendOTP(phone: "+1415555267\(last)"))
                #expect(ContinuousClock.now - asked < .milliseconds(300), .time)
            }
            #expect(try await eventually { first.requests.count == 3 })
            #expect(try await eventually { second.requests.count == 3 })
            #expect(ContinuousClock.now - start < .seconds(5), .time)
            // Three in a row: the next one does not wait for it.
            _ = try await auth.ask(SendOTP(phone: "+14155552674"))
            #expect(try await eventually { second.requests.count == 4 })
            #expect(first.requests.count == 3)
        }
    }

    /// A notice about a moved number or a recovery is still useful after hours.
    @Test func aNoticeIsTriedForAsLongAsAPush() async throws {
        try await Self.run(Self.failing, Self.failing) { auth, _, _ in
            let container = auth.stage.containers[0]
            let notice = ContactMessage(challengeID: nil, to: Self.phone, body: "Your number was changed.")
            try await container.database.transaction {
                container.outbox.enqueue("sms", payload: try WireJSON.encode(notice), in: $0)
            }
            let wasTried =
                "SELECT count(*) FROM outbox WHERE destination = 'sms' AND attempts >= 1 AND locked_until IS NULL"
            #expect(try await eventually { try await auth.stage.rows(wasTried) == "1" })
            try await auth.stage.rows("UPDATE outbox SET attempts = 7, due_at = now() WHERE destination = 'sms'")
            let waits = "SELECT count(*) FROM outbox WHERE attempts = 8 AND due_at > now() + interval '25 minutes'"
            #expect(try await eventually { try await auth.stage.rows(waits) == "1" })
            // After the last attempt nothing is left: a dead letter would keep the number after the person is deleted.
            try await auth.stage.rows("UPDATE outbox SET attempts = 9, due_at = now() WHERE destination = 'sms'")
            #expect(try await eventually { try await auth.stage.rows("SELECT count(*) FROM outbox") == "0" })
            #expect(auth.stage.log.text.contains("sms_given_up"))
        }
    }

    /// Events have a relay of their own, so a slow SMS provider delays SMS only.
    @Test(.timed) func aHangingSMSProviderDelaysNoEvent() async throws {
        try await Self.run(.hangs, .hangs) { auth, first, _ in
            let (container, profile) = (auth.stage.containers[0], EventRecorder<AccountStatusChanged>())
            try auth.stage.answering(as: .profile, profile)
            let sms = ContactMessage(challengeID: nil, to: Self.phone, body: "x")
            try await container.database.transaction { transaction in
                // More than a relay has in hand at once.
                for _ in 0..<40 { container.outbox.enqueue("sms", payload: try WireJSON.encode(sms), in: transaction) }
            }
            #expect(try await eventually { first.requests.count >= 32 })
            try await container.database.transaction {
                try await container.outbox.publish(
                    AccountStatusChanged(personID: .random(), status: "active", changedAt: .now()), in: $0)
            }
            _ = try await profile.atLeast(1)
            let failed = "SELECT count(*) FROM outbox WHERE destination = 'sms' AND last_error IS NOT NULL"
            #expect(try await auth.stage.rows(failed) == "0", .time("all of them still hang"))
        }
    }

    @Test func noCodeIsPromisedWhileAllProvidersAreDown() async throws {
        try await Self.run(Self.failing, Self.failing) { auth, first, second in
            _ = try await auth.ask(SendOTP(phone: Self.phone))
            // Once each is known to be down, an attempt goes on to count.
            #expect(try await eventually { first.requests.count >= 3 && second.requests.count >= 3 })
            #expect(
                try await eventually {
                    try await auth.stage.rows("SELECT attempts >= 3 AND locked_until IS NULL FROM outbox") == "t"
                })
            let error = try await auth.refusal(of: SendOTP(phone: "+14155552672"))
            #expect(error.code == "sms_unavailable" && (1...30_000).contains(error.retryAfterMs ?? 0))
        }
    }

    @Test func anUnreachableNumberIsAbandonedAtOnce() async throws {
        try await Self.run(Self.failing, .answers(status: 400, body: #"{"code": 21211}"#)) { auth, _, second in
            _ = try await auth.ask(SendOTP(phone: Self.phone))
            #expect(try await eventually { try await auth.stage.rows("SELECT state FROM challenges") == "undelivered" })
            #expect(try await eventually { try await auth.stage.rows("SELECT count(*) FROM outbox") == "0" })
            #expect(second.requests.count == 1)
            // Requests for unreachable numbers count against the limit too.
            for number in 0..<29 { _ = try await auth.ask(SendOTP(phone: "+467012345\(10 + number)")) }
            #expect(try await eventually { try await auth.stage.rows("SELECT count(*) FROM outbox") == "0" })
            #expect(try await auth.refusal(of: SendOTP(phone: "+46701234599")).code == "rate_limited")
        }
    }

    private static let complete = [
        "SMS_WEBHOOK_URL": "https://sms.example/send", "SMS_WEBHOOK_KEY": key, "SMS_TWILIO_ACCOUNT": "AC0",
        "SMS_TWILIO_TOKEN": "t", "SMS_TWILIO_FROM": "MG0", "SPOOL_DIR": "/",
        "VESTIBULE_PROFILE": "development",
    ]

    private static func names(_ changes: [String: String]) throws -> [String] {
        let configuration = try Configuration(
            variables: AuthServiceDefinition.definition.variables, prefix: "AUTH_",
            environment: complete.merging(changes) { $1 })
        return try SMSProviders.named(configuration).map(\.name)
    }

    @Test func providersComeInTheOrderGiven() throws {
        #expect(try Self.names([:]) == ["spool"])
        #expect(
            try Self.names(["SMS_PROVIDER": "twilio, webhook", "VESTIBULE_PROFILE": "production"])
                == ["twilio", "webhook"])
        #expect(
            try Self.names(["SMS_PROVIDER": "webhook", "SMS_WEBHOOK_URL": "http://127.0.0.1:1"]) == ["webhook"])
    }

    @Test(
        "a wrong SMS configuration stops the start",
        arguments: [
            (["VESTIBULE_PROFILE": "production"], "the production profile does not allow the provider spool"),
            (
                ["SMS_PROVIDER": "webhook,spool", "VESTIBULE_PROFILE": "production"],
                "the production profile does not allow the provider spool"
            ),
            (["SMS_PROVIDER": "webhook,webhook"], "SMS_PROVIDER"), (["SMS_PROVIDER": ","], "SMS_PROVIDER"),
            (
                ["SMS_PROVIDER": "webhook", "SMS_WEBHOOK_URL": "http://sms.example", "VESTIBULE_PROFILE": "staging"],
                "SMS_WEBHOOK_URL"
            ),
            (
                ["SMS_PROVIDER": "twilio", "SMS_TWILIO_URL": "http://sms.example", "VESTIBULE_PROFILE": "production"],
                "SMS_TWILIO_URL"
            ),
            (["SMS_PROVIDER": "webhook", "SMS_WEBHOOK_KEY": "short"], "SMS_WEBHOOK_KEY"),
            (["SMS_PROVIDER": "webhook", "SMS_WEBHOOK_KEY": ""], "SMS_WEBHOOK_KEY or SMS_WEBHOOK_KEY_FILE"),
            (["SMS_PROVIDER": "twilio", "SMS_TWILIO_TOKEN": ""], "SMS_TWILIO_TOKEN or SMS_TWILIO_TOKEN_FILE"),
            (["SMS_PROVIDER": "twilio", "SMS_TWILIO_ACCOUNT": "AC/../x"], "SMS_TWILIO_ACCOUNT"),
        ] as [([String: String], String)])
    func refusedConfigurations(changes: [String: String], named: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.names(changes) }
        #expect(error?.description.contains(named) == true)
    }
}
