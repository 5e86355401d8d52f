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

@Suite("Rekognition") @Loop struct RekognitionJudgeTests {
    nonisolated static let secret = "canary-of-the-service"
    nonisolated static let keys = ["ASIACANARY", "canary/of+the=app", "canary-token"]
    nonisolated private static let score = "97.531246"

    /// The service with a server that speaks as AWS does.
    nonisolated static func run(
        replicas: Int = 2, _ body: @escaping @Loop @Sendable (Verifying, AWSServer) async throws -> Void
    ) async throws {
        let aws = try await AWSServer(keys: keys, secret: secret)
        let url = await aws.server.url
        let prefix = "VERIFICATION_REKOGNITION_"
        let variables = [
            prefix + "REGION": "eu-west-1", prefix + "ACCESS_KEY": "AKIATEST", prefix + "SECRET_KEY": secret,
            prefix + "ROLE": "arn:aws:iam::123456789012:role/app", prefix + "URL": url, prefix + "STS_URL": url,
        ]
        try await Verifying.run(judge: "rekognition", replicas: replicas, variables: variables) {
            try await body($0, aws)
        }
        await aws.server.stop()
    }

    private static func begin(
        _ verifying: Verifying, _ person: Identifier, key: String = "\(Identifier.random())"
    ) async throws -> VerificationBegun {
        let consent = BiometricConsent(
            biometric: true, textVersion: "7", at: Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000))
        return try await verifying.ask(BeginVerification(consent: consent), person, key: key)
    }

    @Test func aSessionHasOneCheckAndItsKeysAreNotStored() async throws {
        try await Self.run { verifying, aws in
            let (person, key) = (Identifier.random(), "key-\(Identifier.random())")
            let begun = try await Self.begin(verifying, person, key: key)
            let again = try await Self.begin(verifying, person, key: key)
            let provider = try #require(begun.provider)
            #expect(provider.name == "rekognition" && provider.region == "eu-west-1" && provider.sessionId == "check-1")
            #expect(again.provider?.sessionId == "check-1" && again.sessionId == begun.sessionId)
            #expect(begun.prompts.isEmpty && begun.status == "awaiting_capture")
            let credentials = provider.credentials
            #expect([credentials.accessKeyId, credentials.secretAccessKey, credentials.sessionToken] == Self.keys)
            let creations = aws.requests(of: AWSServer.opening)
            #expect(creations.count == 1)
            let creation = try JSONValue.parse(try #require(creations.first).body)
            let asked: JSONValue = ["Settings": ["AuditImagesLimit": 0]]
            #expect(creation == asked)
            let assumed = try #require(aws.requests(of: AWSServer.keyMaking).first)
            let form = AWSServer.form(assumed)
            #expect(form["Action"] == "AssumeRole" && form["RoleArn"] == "arn:aws:iam::123456789012:role/app")
            #expect(form["DurationSeconds"] == "900" && form["Policy"] == AWSServer.onlyStart)
            for (request, service) in [(creations[0], "rekognition"), (assumed, "sts")] {
                #expect(try AWSServer.isSigned(request, service: service, secret: Self.secret))
                var other = request
                other.body.append(32)
                #expect(try !AWSServer.isSigned(other, service: service, secret: Self.secret))
            }
            let kept = try await verifying.media.everything()
            for key in Self.keys + [Self.secret] {
                #expect(!kept.contains(key) && !verifying.stage.log.text.contains(key))
            }
        }
    }

    @Test func theResultVerifiesThePersonAndItsScoreIsNotKept() async throws {
        try await Self.run { verifying, aws in
            aws.results = [AWSServer.result("SUCCEEDED", score: Self.score)]
            let person = Identifier.random()
            let session = try #require(try await Self.begin(verifying, person).sessionId)
            #expect(try await verifying.complete(session, person, verdict: nil).status == "processing")
            #expect(try await verifying.decided.atLeast(1).map(\.outcome) == ["verified"])
            let result = try #require(aws.requests(of: AWSServer.fetching).first)
            #expect(try AWSServer.isSigned(result, service: "rekognition", secret: Self.secret))
            #expect(try JSONValue.parse(result.body)["SessionId"]?.stringValue == "check-1")
            let kept = try await verifying.media.everything()
            #expect(!kept.contains("97.5") && !verifying.stage.log.text.contains("97.5"))
            #expect(try !verifying.decided.text.contains("97.5"))
            #expect(try !verifying.notices.text.contains("97.5"))
            for container in verifying.stage.containers { #expect(!"\(container.ownGauges())".contains("97.5")) }
            #expect(!kept.contains("check-1"), "the check is forgotten with the verdict")
        }
    }

    @Test func withoutConsentNoCheckIsOpened() async throws {
        try await Self.run { verifying, aws in
            let begun = try await verifying.begin(.random(), nil)
            #expect(begun.status == "declined" && aws.server.requests.isEmpty)
        }
    }

    @Test func aTimerFetchesTheResultIfTheAppNeverReturns() async throws {
        try await Self.run { verifying, aws in
            aws.results = [AWSServer.result("SUCCEEDED", score: "12")]
            let person = Identifier.random()
            let session = try #require(try await Self.begin(verifying, person).sessionId)
            let due = try await verifying.stage.rows(
                "SELECT round(extract(epoch FROM min(due_at) - clock_timestamp()) / 10) FROM outbox WHERE destination LIKE 'timer:%'"
            )
            #expect(due == "17", "the timer is due after 170 s")
            try await verifying.passTime("171 s")
            #expect(try await verifying.decided.atLeast(1).map(\.outcome) == ["failed"])
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "liveness_failed" && view.attemptsLeft == 2)
        }
    }

    @Test func throttlingIsRetriedAndAForgottenCheckCostsNoTry() async throws {
        try await Self.run { verifying, aws in
            aws.results = [
                .answers(status: 400, body: #"{"__type": "com.amazonaws.rekognition#ThrottlingException"}"#),
                AWSServer.result("CREATED"), AWSServer.result("IN_PROGRESS"),
                .answers(status: 400, body: #"{"__type": "SessionNotFoundException", "Message": "canary"}"#),
            ]
            let person = Identifier.random()
            let session = try #require(try await Self.begin(verifying, person).sessionId)
            _ = try await verifying.complete(session, person, verdict: nil)
            #expect(try await verifying.soon { verifying.decided.heard.map(\.outcome) == ["failed"] })
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "expired" && view.attemptsLeft == 3)
            let log = verifying.stage.log.text
            #expect(log.contains(#""error":"ThrottlingException""#) && !log.contains("canary"))
        }
    }

    @Test func anUnusedCheckCostsNoTry() async throws {
        try await Self.run { verifying, aws in
            aws.results = [AWSServer.result("EXPIRED")]
            let person = Identifier.random()
            let session = try #require(try await Self.begin(verifying, person).sessionId)
            _ = try await verifying.complete(session, person, verdict: nil)
            #expect(try await verifying.decided.atLeast(1).map(\.outcome) == ["failed"])
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "expired" && view.attemptsLeft == 3)
        }
    }

    @Test func afterThreeFailedChecksReviewersDecideByAPhoto() async throws {
        try await Self.run { verifying, aws in
            aws.results = [
                AWSServer.result("FAILED"), AWSServer.result("SUCCEEDED", score: "12"), AWSServer.result("FAILED"),
            ]
            let person = Identifier.random()
            var session = person
            for number in 1...3 {
                session = try #require(try await Self.begin(verifying, person).sessionId)
                _ = try await verifying.complete(session, person, verdict: nil)
                #expect(try await verifying.decided.atLeast(number).map(\.outcome).last == "failed")
                let view = try await verifying.ask(GetVerification(sessionId: session), person)
                #expect(view.status == "liveness_failed" && view.attemptsLeft == (number < 3 ? 3 - Int64(number) : 1))
                #expect(view.message.contains("med en bild") == (number == 3))
            }
            let key = "key-\(Identifier.random())"
            for _ in 1...2 {
                let begun = try await Self.begin(verifying, person, key: key)
                #expect(begun.provider == nil && begun.prompts.count == 5 && begun.expiresAt != nil)
            }
            session = try await verifying.uploaded(person).session
            #expect(try await verifying.complete(session, person, verdict: nil).status == "manual_review")
            #expect(try await verifying.decided.atLeast(4).map(\.outcome).last == "in_review")
            let operations = [AWSServer.opening, AWSServer.fetching]
            #expect(operations.map { aws.requests(of: $0).count } == [3, 3], "the last session asks nothing of AWS")
            let staff = Identifier.random()
            let queue = try await verifying.ask(ListVerificationReviews(), staff, role: "staff").reviews
            #expect(queue.map(\.sessionId) == [session] && queue.map(\.attempts) == [3])
            let review = try await verifying.ask(GetVerificationReview(sessionId: session), staff, role: "staff")
            #expect(review.captureUrl != nil)
            let decision = DecideVerification(sessionId: session, verdict: "verified")
            _ = try await verifying.ask(decision, staff, role: "staff", key: "a decision of staff")
            #expect(try await verifying.decided.atLeast(5).last?.outcome == "verified")
        }
    }

    @Test func reviewersGetNoCheckThatTheFormerJudgeOpened() async throws {
        try await Self.run { verifying, _ in
            let person = Identifier.random()
            let session = try #require(try await Self.begin(verifying, person).sessionId)
            let staff = verifying.stage.environment.filter { !$0.key.hasPrefix("VERIFICATION_REKOGNITION") }
                .merging(["VERIFICATION_JUDGE": "staff"]) { $1 }
            try await verifying.stage.replaceReplicas(by: staff)
            let error = await #expect(throws: BusError.self) {
                try await verifying.complete(session, person, verdict: nil)
            }
            #expect(error?.code == "capture_missing")
        }
    }

    @Test func withoutACheckBeginFailsAndARetryOpensOne() async throws {
        try await Self.run { verifying, aws in
            aws.refused = AWSServer.opening
            let (person, key) = (Identifier.random(), "key-\(Identifier.random())")
            let error = await #expect(throws: BusError.self) { try await Self.begin(verifying, person, key: key) }
            #expect(error?.code == "service_unavailable")
            #expect(verifying.stage.log.text.contains(#""error":"AccessDeniedException""#))
            aws.refused = nil
            let begun = try await Self.begin(verifying, person, key: key)
            #expect(begun.provider?.sessionId == "check-1")
            #expect(try await verifying.stage.rows("SELECT begun FROM verifications") == "1")
            #expect(try await Self.begin(verifying, person).provider?.sessionId == "check-2")
            #expect(try await Self.begin(verifying, person, key: key).provider == nil, "another session took its place")
        }
    }

    @Test func withoutKeysNoCheckIsOpened() async throws {
        try await Self.run { verifying, aws in
            aws.refused = AWSServer.keyMaking
            let (person, key) = (Identifier.random(), "key-\(Identifier.random())")
            let error = await #expect(throws: BusError.self) { try await Self.begin(verifying, person, key: key) }
            #expect(error?.code == "service_unavailable")
            #expect(aws.requests(of: AWSServer.opening).isEmpty)
            aws.refused = nil
            #expect(try await Self.begin(verifying, person, key: key).provider?.sessionId == "check-1")
            let row = try await verifying.stage.rows("SELECT provider_session, begun FROM verifications")
            #expect(row == "check-1|1")
        }
    }

    @Test func repetitionsAtTheSameTimeGetOneCheck() async throws {
        try await Self.run { verifying, aws in
            let (person, key) = (Identifier.random(), "key-\(Identifier.random())")
            let begins = (0..<4).map { _ in
                Loop.spawn {
                    while true {
                        do {
                            return try await patiently { try await Self.begin(verifying, person, key: key) }
                                .provider?.sessionId
                        } catch let error as BusError where error.code == ErrorCode.requestInProgress.name {
                            try await Loop.sleep(for: .milliseconds(20))
                        }
                    }
                }
            }
            var checks: Set<String?> = []
            for begin in begins { checks.insert(try await begin.value) }
            let noted = try await verifying.stage.rows("SELECT provider_session FROM verifications")
            #expect(checks == [noted])
        }
    }

    @Test func anUnsafeConfigurationIsRefused() async throws {
        try await Self.run { verifying, _ in
            let prefix = "VERIFICATION_REKOGNITION_"
            @Loop func start(_ change: [String: String]) throws {
                let right = ["VESTIBULE_PROFILE": "production", prefix + "URL": "", prefix + "STS_URL": ""]
                let environment = verifying.stage.environment.merging(right) { $1 }.merging(change) { $1 }
                _ = try ServiceContainer(verifying.stage.definition, environment: environment) { _ in }
            }
            let wrong = [
                "URL": "http://aws.example", "STS_URL": "http://aws.example", "REGION": "eu.example/", "ROLE": "",
                "ACCESS_KEY": "", "SECRET_KEY": "", "CONFIDENCE": "49",
            ]
            for (name, value) in wrong {
                let error = #expect(throws: ConfigurationError.self) { try start([prefix + name: value]) }
                #expect(error?.description.contains(prefix + name) == true)
            }
        }
    }

    nonisolated static let results: [(String, Result<JudgeAnswer, JudgeError>)] = [
        (#"{"Status": "CREATED"}"#, .success(.later)), (#"{"Status": "IN_PROGRESS"}"#, .success(.later)),
        (#"{"Status": "SUCCEEDED", "Confidence": 90}"#, .success(.verdict(.verified))),
        (#"{"Status": "SUCCEEDED", "Confidence": 89.999}"#, .success(.verdict(.livenessFailed))),
        (#"{"Status": "SUCCEEDED", "Confidence": 0}"#, .success(.verdict(.livenessFailed))),
        (#"{"Status": "SUCCEEDED"}"#, .failure(JudgeError("answer_unreadable"))),
        (#"{"Status": "SUCCEEDED", "Confidence": "99"}"#, .failure(JudgeError("answer_unreadable"))),
        (#"{"Status": "FAILED", "Confidence": 99}"#, .success(.verdict(.livenessFailed))),
        (#"{"Status": "EXPIRED"}"#, .success(.captureMissing)),
        (#"{"Status": "PAUSED"}"#, .failure(JudgeError("unknown_status"))),
        ("{}", .failure(JudgeError("unknown_status"))),
    ]

    @Test(arguments: results)
    func results(text: String, expected: Result<JudgeAnswer, JudgeError>) throws {
        let result = try JSONValue.parse(Array(text.utf8))
        let answer = Result { () throws(JudgeError) in try RekognitionJudge.verdict(result, threshold: 90) }
        #expect(answer == expected)
    }
}

/// A local server that speaks as Rekognition and STS do. It refuses a request with a wrong signature.
@Loop final class AWSServer {
    nonisolated static let opening = "CreateFaceLivenessSession"
    nonisolated static let keyMaking = "AssumeRole"
    nonisolated static let fetching = "GetFaceLivenessSessionResults"

    let server: ProviderServer
    /// The answers to questions for a result, one after another. The last one stays.
    var results: [ProviderServer.Manner] = []
    /// The operation that is refused.
    var refused: String?
    /// The operation that is carried out and not answered.
    var unanswered: String?
    /// Whether a request with a wrong signature is refused. Each look runs `openssl` eight times.
    var looksAtSignatures = true
    /// How many checks are open.
    private var checks = 0

    init(keys: [String], secret: String) throws {
        server = try ProviderServer(.hangs)
        server.manner = .chooses { [unowned self] in answer(to: $0, keys, secret) }
    }

    private func answer(to request: HTTPRequest, _ keys: [String], _ secret: String) -> ProviderServer.Manner {
        let operation = Self.operation(of: request)
        let service = operation == Self.keyMaking ? "sts" : "rekognition"
        guard !looksAtSignatures || (try? Self.isSigned(request, service: service, secret: secret)) == true else {
            return .answers(status: 403, body: #"{"__type": "InvalidSignatureException"}"#)
        }
        guard refused != operation else {
            return .answers(status: 400, body: #"{"__type": "AccessDeniedException"}"#)
        }
        if operation == Self.opening { checks += 1 }
        guard unanswered != operation else { return .hangs }
        switch operation {
        case Self.opening: return .answers(status: 200, body: #"{"SessionId": "check-\#(checks)"}"#)
        case Self.fetching:
            return results.count > 1 ? results.removeFirst() : results.first ?? Self.result("CREATED")
        default:
            let parts = zip(["AccessKeyId", "SecretAccessKey", "SessionToken"], keys).map { "<\($0)>\($1)</\($0)>" }
            return .answers(
                status: 200,
                body: "<AssumeRoleResponse><AssumeRoleResult><Credentials>\(parts.joined())</Credentials>"
                    + "</AssumeRoleResult></AssumeRoleResponse>")
        }
    }

    /// A result with a picture that is larger than other providers' answers may be.
    nonisolated static func result(_ status: String, score: String? = nil) -> ProviderServer.Manner {
        let picture = String(repeating: "A", count: 200_000)
        return .answers(
            status: 200,
            body:
                #"{"Status": "\#(status)", "Confidence": \#(score ?? "null"), "ReferenceImage": {"Bytes": "\#(picture)"}}"#
        )
    }

    /// The requests for an operation.
    func requests(of operation: String) -> [HTTPRequest] {
        server.requests.filter { Self.operation(of: $0) == operation }
    }

    private static func operation(of request: HTTPRequest) -> String {
        let target = request.head.headers.first("x-amz-target")?.split(separator: ".").last
        return target.map(String.init) ?? keyMaking
    }

    nonisolated static let onlyStart =
        #"{"Statement":[{"Action":"rekognition:StartFaceLivenessSession","Effect":"Allow","Resource":"*"}],"#
        + #""Version":"2012-10-17"}"#

    nonisolated static func form(_ request: HTTPRequest) -> [String: String] {
        let pairs = String(decoding: request.body, as: UTF8.self).split(separator: "&").map { $0.split(separator: "=") }
        return Dictionary(
            uniqueKeysWithValues: pairs.map { (String($0[0]), String($0[1]).removingPercentEncoding ?? "") })
    }

    /// Checks a signature by the steps that AWS publishes, with the hashes of openssl.
    nonisolated static func isSigned(_ request: HTTPRequest, service: String, secret: String) throws -> Bool {
        let headers = request.head.headers
        let authorization = try #require(headers.first("authorization"))
        let date = try #require(headers.first("x-amz-date"))
        func part(_ name: String) throws -> String {
            let start = try #require(authorization.range(of: "\(name)=")).upperBound
            return String(authorization[start...].prefix { $0 != "," })
        }
        let names = try part("SignedHeaders")
        for name in ["host", "content-type", "x-amz-date"] { #expect(names.split(separator: ";").contains("\(name)")) }
        let scope = "\(date.prefix(8))/eu-west-1/\(service)/aws4_request"
        let credential = try part("Credential")
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 ") && credential == "AKIATEST/\(scope)")
        let fields = names.split(separator: ";").map { "\($0):\(headers.first(String($0)) ?? "")\n" }.joined()
        let canonical = "POST\n/\n\n\(fields)\n\(names)\n\(try hash(request.body))"
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(try hash(Array(canonical.utf8)))"
        var key = "AWS4\(secret)".utf8.map { String(format: "%02x", $0) }.joined()
        for step in ["\(date.prefix(8))", "eu-west-1", service, "aws4_request", text] {
            let output = try OpenSSL.run(
                ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(key)", "-r"], Array(step.utf8))
            key = String(output.prefix(64))
        }
        return try part("Signature") == key
    }

    nonisolated private static func hash(_ bytes: [UInt8]) throws -> String {
        String(try OpenSSL.run(["dgst", "-sha256", "-r"], bytes).prefix(64))
    }
}
