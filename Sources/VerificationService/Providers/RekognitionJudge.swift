import BusProtocol
import Cryptography
import EventLoop
import Foundation
import FoundationNetworking
import JSONText
import ProviderHTTP
import ServiceRuntime

/// Amazon Rekognition Face Liveness. The app runs a check there, which takes the place of a photo, and the service asks for its
/// result.
///
/// The score and the picture of a result end in ``verdict(_:threshold:)``. Neither is kept, logged or passed on.
struct RekognitionJudge: Judge {
    let region: String
    /// A check with this score or a higher one shows a living person, 0 to 100.
    let threshold: Double
    /// The role that an app's keys are made from.
    let role: String
    let credentials: AWSSigner.Credentials
    let rekognition: URL
    let tokens: URL

    /// Two of them fit into the five seconds of the gateway.
    private static let patience = Duration.seconds(2)
    /// A result has a picture of the face.
    private static let largestResult = 4 << 20
    /// The shortest life that AWS gives to keys.
    private static let keysLive = Duration.seconds(900)

    static let variables: [ConfigurationVariable] = [
        .init("VERIFICATION_REKOGNITION_REGION", .text, nil, "The AWS region of Rekognition, such as eu-west-1"),
        .init("VERIFICATION_REKOGNITION_ACCESS_KEY", .text, nil, "The id of the AWS access key"),
        .init("VERIFICATION_REKOGNITION_SECRET_KEY", .text, nil, "The AWS access key", isSecret: true),
        .init(
            "VERIFICATION_REKOGNITION_ROLE", .text, nil,
            "The ARN of the role that apps' keys are made from: it may start a liveness check"),
        .init(
            "VERIFICATION_REKOGNITION_CONFIDENCE", .integer(50...100), "90",
            "The score of Rekognition from which on a check shows a living person"),
        .init("VERIFICATION_REKOGNITION_URL", .text, nil, "The URL of Rekognition; empty: that of the region"),
        .init("VERIFICATION_REKOGNITION_STS_URL", .text, nil, "The URL of AWS STS; empty: that of the region"),
    ]

    init(_ configuration: Configuration) throws(ConfigurationError) {
        let prefix = "VERIFICATION_REKOGNITION"
        let region = try configuration.text("\(prefix)_REGION")
        guard region.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || 48...57 ~= $0 || 97...122 ~= $0 }) else {
            throw ConfigurationError("\(prefix)_REGION must be a region such as eu-west-1")
        }
        self.region = region
        threshold = Double(try configuration.integer("\(prefix)_CONFIDENCE"))
        role = try configuration.text("\(prefix)_ROLE")
        credentials = AWSSigner.Credentials(
            accessKey: try configuration.text("\(prefix)_ACCESS_KEY"),
            secretKey: try configuration.text("\(prefix)_SECRET_KEY"))
        func url(_ name: String, _ host: String) throws(ConfigurationError) -> URL {
            let text = configuration.optionalText(name) ?? "https://\(host).\(region).amazonaws.com"
            return try ProviderSettings.url(text, of: name, in: configuration.profile)
        }
        rekognition = try url("\(prefix)_URL", "rekognition")
        tokens = try url("\(prefix)_STS_URL", "sts")
    }

    /// Opens a check. It has no `ClientRequestToken`: with the token of a former request, AWS would return the check that this
    /// one opened, and perhaps has forgotten.
    ///
    /// - Returns: the check's id at AWS.
    @Loop func open() async throws(JudgeError) -> String {
        let answer = try await call("CreateFaceLivenessSession", ["Settings": ["AuditImagesLimit": 0]])
        guard let id = answer["SessionId"]?.stringValue, 1...64 ~= id.utf8.count else {
            throw JudgeError("answer_unreadable")
        }
        return id
    }

    /// Makes keys with which an app may start a check and do nothing else, even if the role may do more.
    @Loop func credentials() async throws(JudgeError) -> LivenessCheck.Credentials {
        let policy: JSONValue = [
            "Version": "2012-10-17",
            "Statement": [
                ["Effect": "Allow", "Action": "rekognition:StartFaceLivenessSession", "Resource": "*"]
            ],
        ]
        let expiresAt = Timestamp.now() + Self.keysLive
        let form = [
            (name: "Action", value: "AssumeRole"), (name: "Version", value: "2011-06-15"),
            (name: "RoleArn", value: role), (name: "RoleSessionName", value: "vestibule"),
            (name: "DurationSeconds", value: "\(Self.keysLive.components.seconds)"),
            (name: "Policy", value: String(decoding: CanonicalJSON.bytes(of: policy), as: UTF8.self)),
        ]
        let request = signed(URLRequest(posting: form, to: tokens), service: "sts")
        let answer = try await Self.answer(to: request)
        let text = String(decoding: answer.body, as: UTF8.self)
        guard answer.status == 200, let key = Self.element("AccessKeyId", text),
            let secret = Self.element("SecretAccessKey", text), let token = Self.element("SessionToken", text)
        else { throw JudgeError("keys_http_\(answer.status)", retryAfter: answer.retryAfter) }
        return LivenessCheck.Credentials(
            accessKeyId: key, secretAccessKey: secret, sessionToken: token, expiresAt: expiresAt)
    }

    @Loop func answer(on capture: JudgedCapture) async throws -> JudgeAnswer {
        guard let check = capture.check else { return .captureMissing }
        do throws(JudgeError) {
            let result = try await call("GetFaceLivenessSessionResults", ["SessionId": .string(check)])
            return try Self.verdict(result, threshold: threshold)
        } catch {
            // AWS forgets a check three minutes after it was opened.
            guard error.reason == "SessionNotFoundException" else { throw error }
            return .captureMissing
        }
    }

    /// The answer in a result. `FAILED` is a check that ended without a score. The person can only try again, as after
    /// a low score.
    static func verdict(_ result: JSONValue, threshold: Double) throws(JudgeError) -> JudgeAnswer {
        switch result["Status"]?.stringValue {
        case "CREATED", "IN_PROGRESS": return .later
        case "SUCCEEDED":
            // This status means that the check ended. It does not mean that the person is alive.
            let score: Double
            switch result["Confidence"] {
            case .number(let number)?: score = number
            case .integer(let number)?: score = Double(number)
            default: throw JudgeError("answer_unreadable")
            }
            return .verdict(score >= threshold ? .verified : .livenessFailed)
        case "FAILED": return .verdict(.livenessFailed)
        case "EXPIRED": return .captureMissing
        default: throw JudgeError("unknown_status")
        }
    }

    // MARK: Requests

    @Loop private func call(_ operation: String, _ body: JSONValue) async throws(JudgeError) -> JSONValue {
        var request = URLRequest(url: rekognition)
        request.httpMethod = "POST"
        request.httpBody = Data(CanonicalJSON.bytes(of: body))
        request.setValue("application/x-amz-json-1.1", forHTTPHeaderField: "Content-Type")
        request.setValue("RekognitionService.\(operation)", forHTTPHeaderField: "X-Amz-Target")
        let answer = try await Self.answer(to: signed(request, service: "rekognition"))
        let parsed = try? await Loop.compute { try JSONValue.parse(answer.body) }
        guard answer.status == 200 else {
            throw JudgeError(Self.reason(parsed) ?? "http_\(answer.status)", retryAfter: answer.retryAfter)
        }
        guard let parsed else { throw JudgeError("answer_unreadable") }
        return parsed
    }

    @Loop private static func answer(to request: URLRequest) async throws(JudgeError) -> ProviderAnswer {
        switch await ProviderClient.ask(request, within: patience, atMost: largestResult) {
        case .success(let answer): return answer
        case .failure(let failure): throw JudgeError(failure.reason)
        }
    }

    /// The name of an error of AWS, such as `ThrottlingException`; `nil` if it is none.
    private static func reason(_ body: JSONValue?) -> String? {
        let name = body?["__type"]?.stringValue?.split(separator: "#").last.map(String.init)
        let isName = name?.utf8.allSatisfy { 65...90 ~= $0 & 0xDF } == true
        return isName && name?.utf8.count ?? 0 <= 64 ? name : nil
    }

    private func signed(_ request: URLRequest, service: String) -> URLRequest {
        var request = request
        guard let url = request.url else { return request }
        let host = (url.host ?? "") + (url.port.map { ":\($0)" } ?? "")
        let headers = (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) }
        let hash = Hex.encode(SHA256.digest([UInt8](request.httpBody ?? Data())))
        let signature = AWSSigner(credentials, region: region, service: service).headers(
            for: .init(
                method: "POST", path: url.path.isEmpty ? "/" : url.path,
                headers: headers + [(name: "host", value: host)], payloadHash: hash),
            at: Timestamp.now().microsecondsSinceEpoch / 1_000_000)
        for header in signature { request.setValue(header.value, forHTTPHeaderField: header.name) }
        return request
    }

    /// The text of an element without entities in it, as keys are.
    private static func element(_ name: String, _ text: String) -> String? {
        guard let start = text.range(of: "<\(name)>"),
            let end = text.range(of: "</\(name)>", range: start.upperBound..<text.endIndex)
        else { return nil }
        let value = text[start.upperBound..<end.lowerBound]
        return value.isEmpty || value.contains("&") ? nil : String(value)
    }
}
