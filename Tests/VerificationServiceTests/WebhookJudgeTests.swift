import BusProtocol
import EventLoop
import Foundation
import HTTPServer
import JSONText
import ProviderHTTP
import ServiceRuntime
import TestSupport
import Testing

@testable import VerificationService

@Suite("webhook judge") @Loop struct WebhookJudgeTests {
    private static let key = "a key that only the test has, 32+"

    /// The service with a judge of the operator's own.
    nonisolated private static func run(
        _ manner: ProviderServer.Manner,
        _ body: @escaping @Loop @Sendable (Verifying, ProviderServer) async throws -> Void
    ) async throws {
        let server = try await ProviderServer(manner)
        let variables = await ["VERIFICATION_WEBHOOK_URL": server.url + "/judge", "VERIFICATION_WEBHOOK_KEY": key]
        try await Verifying.run(judge: "webhook", replicas: 2, variables: variables) { try await body($0, server) }
        await server.stop()
    }

    nonisolated private static func says(_ body: String, status: Int = 200) -> ProviderServer.Manner {
        .answers(status: status, body: body)
    }

    @Test func theJudgeGetsASignedQuestionWithAnAddressThatEndsWithThePhoto() async throws {
        try await Self.run(Self.says("", status: 202)) { verifying, server in
            let (person, session) = try await verifying.uploaded()
            _ = try await verifying.complete(session, person)
            #expect(try await eventually { !server.requests.isEmpty })
            let request = try #require(server.requests.first)
            let headers = request.head.headers
            #expect(request.head.method == "POST" && request.head.path == "/judge")
            #expect(headers.first("idempotency-key") == session.description)
            let timestamp = try #require(headers.first("vestibule-timestamp"))
            #expect(abs(Date().timeIntervalSince1970 - (Double(timestamp) ?? 0)) < 60)
            let signed = Array("\(timestamp).".utf8) + request.body
            let code = try OpenSSL.run(["dgst", "-sha256", "-hmac", Self.key, "-r"], signed).prefix(64)
            #expect(headers.first("vestibule-signature") == "v1=\(code)")
            let question = try JSONValue.parse(request.body)
            #expect(question["session"]?.stringValue == session.description && question["attempt"] == .integer(1))
            #expect(question["contentType"]?.stringValue == "image/png")
            #expect(!String(decoding: request.body, as: UTF8.self).contains(person.description))
            let url = try #require(question["pictureUrl"]?.stringValue)
            let shown = try await verifying.media.get(url)
            #expect(shown.status == 200 && shown.headers["content-type"] == "image/png")
            server.manner = Self.says(#"{"verdict": "verified"}"#)
            #expect(try await verifying.decided.atLeast(1).map(\.outcome) == ["verified"])
            #expect(server.requests.allSatisfy { $0.head.headers.first("idempotency-key") == session.description })
            #expect(try await verifying.media.get(url).status == 404, "the photo is destroyed with the verdict")
            #expect(!verifying.stage.log.text.contains("signature="))
        }
    }

    @Test func aFinalRefusalGoesToReviewersAndOthersCostATry() async throws {
        try await Self.run(Self.says(#"{"verdict": "quality_too_low"}"#)) { verifying, server in
            let (person, session) = try await verifying.uploaded()
            _ = try await verifying.complete(session, person)
            #expect(try await verifying.decided.atLeast(1).map(\.outcome) == ["failed"])
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "quality_too_low" && view.attemptsLeft == 2)
            server.manner = Self.says(#"{"verdict": "liveness_failed", "final": true}"#)
            let again = try await verifying.uploaded(person).session
            _ = try await verifying.complete(again, person)
            #expect(try await verifying.decided.atLeast(2).last?.outcome == "in_review")
            #expect(try await verifying.ask(GetVerification(sessionId: again), person).status == "manual_review")
            #expect(try await verifying.captures() == 1)
        }
    }

    @Test func aLateVerdictIsPushedOnce() async throws {
        try await Self.run(Self.says("", status: 202)) { verifying, server in
            let (person, session) = try await verifying.uploaded()
            _ = try await verifying.complete(session, person)
            #expect(try await eventually { !server.requests.isEmpty })
            try await verifying.passTime("31 s")
            let isOver = try await eventually {
                try await verifying.ask(GetVerification(sessionId: session), person).status == "inconclusive"
            }
            #expect(isOver && verifying.decided.heard.isEmpty)
            server.manner = Self.says(#"{"verdict": "verified"}"#)
            #expect(try await verifying.soon { verifying.decided.heard.map(\.outcome) == ["verified"] })
            #expect(try await verifying.notices.atLeast(1).map(\.personID) == [person])
            let isAskedNoMore = try await eventually {
                try await verifying.stage.rows("SELECT count(*) FROM outbox WHERE destination LIKE '%judge'") == "0"
            }
            #expect(isAskedNoMore)
            #expect(verifying.decided.heard.count == 1 && verifying.notices.heard.count == 1)
        }
    }

    @Test func aJudgeThatFailsNineTimesCostsNoTry() async throws {
        try await Self.run(Self.says("the person's face", status: 503)) { verifying, server in
            let (person, session) = try await verifying.uploaded()
            _ = try await verifying.complete(session, person)
            #expect(try await verifying.soon { verifying.decided.heard.map(\.outcome) == ["failed"] })
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "inconclusive" && view.attemptsLeft == 3)
            #expect(server.requests.count == 9)
            #expect(verifying.stage.log.text.contains(#""error":"http_503""#))
            // Not `face` alone, which the random ids of traces may contain.
            #expect(!verifying.stage.log.text.contains("the person"))
            #expect(try await verifying.captures() == 0)
        }
    }

    nonisolated static let answers: [(Int, String, Result<JudgeAnswer, JudgeError>)] = [
        (200, #"{"verdict": "verified"}"#, .success(.verdict(.verified))),
        (200, #"{"verdict": "verified", "final": false, "more": 1}"#, .success(.verdict(.verified))),
        (200, #"{"verdict": "liveness_failed"}"#, .success(.verdict(.livenessFailed))),
        (200, #"{"verdict": "inconclusive", "final": true}"#, .success(.verdict(.inconclusive, isFinal: true))),
        (202, "", .success(.later)),
        (200, #"{"verdict": "verified", "final": true}"#, .failure(JudgeError("unknown_verdict"))),
        (200, #"{"verdict": "verified", "final": "no"}"#, .failure(JudgeError("unknown_verdict"))),
        (200, #"{"verdict": "approved"}"#, .failure(JudgeError("unknown_verdict"))),
        (200, #"{"verdict": "rejected"}"#, .failure(JudgeError("unknown_verdict"))),
        (200, #"{"verdict": "manual_review"}"#, .failure(JudgeError("unknown_verdict"))),
        (200, #"{"verdict": "verified", "verdict": "inconclusive"}"#, .failure(JudgeError("answer_unreadable"))),
        (200, #"{"verdict": true}"#, .failure(JudgeError("answer_unreadable"))),
        (200, "", .failure(JudgeError("answer_unreadable"))),
        (204, "", .failure(JudgeError("http_204"))), (400, "", .failure(JudgeError("http_400"))),
        (401, "", .failure(JudgeError("http_401"))), (500, "", .failure(JudgeError("http_500"))),
        (429, "", .failure(JudgeError("http_429", retryAfter: .seconds(7)))),
    ]

    @Test(arguments: answers)
    func answers(status: Int, body: String, expected: Result<JudgeAnswer, JudgeError>) async throws {
        let headers: HTTPHeaders = status == 429 ? ["retry-after": "7"] : [:]
        let server = try ProviderServer(.answers(status: status, body: body, headers: headers))
        #expect(try await Self.asked(server.url) == expected)
        await server.stop()
    }

    @Test func redirectsAndEndlessOrSlowAnswersAreRefused() async throws {
        let other = try ProviderServer(Self.says(#"{"verdict": "verified"}"#))
        let long = #"{"verdict": "verified"}"# + String(repeating: " ", count: ProviderClient.largestAnswerBytes)
        let manners: [(ProviderServer.Manner, String)] = [
            (.redirects(to: other.url), "http_307"), (Self.says(long), "answer_too_large"), (.hangs, "no_answer"),
        ]
        for (manner, reason) in manners {
            let server = try ProviderServer(manner)
            let limit = reason == "no_answer" ? Duration.milliseconds(50) : .seconds(5)
            #expect(try await Self.asked(server.url, within: limit) == .failure(JudgeError(reason)))
            await server.stop()
        }
        #expect(other.requests.isEmpty)
        await other.stop()
        let url = other.url
        #expect(try await Self.asked(url) == .failure(JudgeError("connection_refused")))
    }

    /// Each byte comes in time; their sum does not.
    @Test func aDrippingAnswerIsAbandoned() async throws {
        let server = try DrippingServer()
        let answer = try await Self.asked(server.url, within: .milliseconds(300))
        #expect(answer == .failure(JudgeError("no_answer")))
        server.stop()
    }

    @Test func anUnsafeConfigurationIsRefused() async throws {
        let (url, media) = ("VERIFICATION_WEBHOOK_URL", "VERIFICATION_MEDIA")
        let right = [
            "VESTIBULE_PROFILE": "production", url: "https://judge.example/", media: "https://api.example",
            "VERIFICATION_WEBHOOK_KEY": Self.key,
        ]
        try await Self.run(Self.says("")) { verifying, _ in
            @Loop func start(_ change: [String: String]) throws {
                let environment = verifying.stage.environment.merging(right) { $1 }.merging(change) { $1 }
                _ = try ServiceContainer(verifying.stage.definition, environment: environment) { _ in }
            }
            let wrong = [url: "http://judge.example/", media: "", "VERIFICATION_WEBHOOK_KEY": "short"]
            for change in wrong.map({ [$0.key: $0.value] }) + [[url: ""]] {
                let error = #expect(throws: ConfigurationError.self) { try start(change) }
                #expect(error?.description.contains(change.keys.first ?? "") == true)
            }
        }
    }

    private static func asked(
        _ url: String, within limit: Duration = .seconds(5)
    ) async throws -> Result<JudgeAnswer, JudgeError> {
        let webhook = Webhook(url: try #require(URL(string: url)), key: Array(key.utf8))
        do throws(JudgeError) {
            let request = webhook.request(.ordered(), Array("{}".utf8))
            return .success(try WebhookJudge.read(try await PictureWebhook.ask(request, within: limit)))
        } catch {
            return .failure(error)
        }
    }
}

extension Verifying {
    /// Waits for something, while the questions to the judge are always due.
    func soon(_ condition: @escaping @Loop () async throws -> Bool) async throws -> Bool {
        try await eventually {
            if try await condition() { return true }
            try await stage.rows(
                "UPDATE outbox SET due_at = clock_timestamp() WHERE destination LIKE '%judge' AND locked_until IS NULL")
            return false
        }
    }
}

/// Answers with one byte at a time, for ever.
final class DrippingServer: Sendable {
    private let listener: Int32
    let url: String

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EIO) }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread.detachNewThread {
            let client = accept(listener, nil, nil)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"
            _ = send(client, head, head.utf8.count, Int32(MSG_NOSIGNAL))
            while send(client, " ", 1, Int32(MSG_NOSIGNAL)) == 1 { usleep(20_000) }
            close(client)
        }
    }

    func stop() { close(listener) }
}
