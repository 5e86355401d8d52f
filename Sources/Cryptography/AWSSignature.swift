import Glibc

/// Signs requests to Amazon Web Services and to servers that speak S3 (AWS Signature Version 4 in the `Authorization`
/// header).
package struct AWSSigner: Sendable {
    /// The keys of a role or a user.
    package struct Credentials: Sendable {
        /// The public half.
        package var accessKey: String
        /// The secret half.
        package var secretKey: String
        /// The session token of credentials with a short life; `nil` for others.
        package var sessionToken: String?

        /// Takes the keys.
        package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
            (self.accessKey, self.secretKey, self.sessionToken) = (accessKey, secretKey, sessionToken)
        }
    }

    /// The signed parts of a request.
    package struct Request: Sendable {
        /// The method, such as `POST`.
        package var method: String
        /// The path before percent-encoding. The signer encodes it once, as S3 requires. Other services encode it
        /// twice, which makes no difference for `/`.
        package var path: String
        /// Names and values as they are before percent-encoding.
        package var query: [(name: String, value: String)]
        /// Names and values, with `host`. The headers that ``AWSSigner/headers(for:at:)`` returns are not among them.
        package var headers: [(name: String, value: String)]
        /// The SHA-256 of the body in hexadecimal digits, or `UNSIGNED-PAYLOAD` for S3.
        package var payloadHash: String

        /// Takes the parts of a request. Without a hash the body is empty.
        package init(
            method: String, path: String, query: [(name: String, value: String)] = [],
            headers: [(name: String, value: String)], payloadHash: String = Hex.encode(SHA256.digest([]))
        ) {
            self.method = method
            self.path = path
            self.query = query
            self.headers = headers
            self.payloadHash = payloadHash
        }
    }

    private let credentials: Credentials
    private let region: String
    private let service: String

    /// - Parameters:
    ///   - region: such as `eu-west-1`.
    ///   - service: such as `s3`.
    package init(_ credentials: Credentials, region: String, service: String) {
        (self.credentials, self.region, self.service) = (credentials, region, service)
    }

    /// The headers to add to a request: `x-amz-date`, `x-amz-security-token` if there is one, and `authorization`. S3
    /// also requires `x-amz-content-sha256`. The caller signs it as one of its headers.
    ///
    /// - Parameter time: in seconds since 1970. A server refuses a time that is more than five minutes off.
    package func headers(for request: Request, at time: Int64) -> [(name: String, value: String)] {
        let date = Self.date(time)
        var added = [(name: "x-amz-date", value: date)]
        if let token = credentials.sessionToken { added.append((name: "x-amz-security-token", value: token)) }
        var whole = request
        whole.headers += added
        let scope = "\(date.prefix(8))/\(region)/\(service)/aws4_request"
        let fields = "SignedHeaders=\(whole.canonicalHeaders.map(\.name).joined(separator: ";"))"
        let credential = "Credential=\(credentials.accessKey)/\(scope)"
        let signature = signature(of: whole.canonical, date: date, scope: scope)
        added.append(
            (name: "authorization", value: "AWS4-HMAC-SHA256 \(credential), \(fields), Signature=\(signature)"))
        return added
    }

    private func signature(of canonical: String, date: String, scope: String) -> String {
        let digest = Hex.encode(SHA256.digest(Array(canonical.utf8)))
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(digest)"
        var key = Array("AWS4\(credentials.secretKey)".utf8)
        for part in [String(date.prefix(8)), region, service, "aws4_request", text] {
            key = HMACSHA256.code(for: Array(part.utf8), key: key)
        }
        return Hex.encode(key)
    }

    /// Such as `20150830T123600Z`.
    static func date(_ time: Int64) -> String {
        var (seconds, parts) = (time_t(time), tm())
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let day = "\(parts.tm_year + 1900)" + two(parts.tm_mon + 1) + two(parts.tm_mday)
        return day + "T" + two(parts.tm_hour) + two(parts.tm_min) + two(parts.tm_sec) + "Z"
    }
}

extension AWSSigner.Request {
    fileprivate var canonical: String {
        let fields = canonicalHeaders.map { "\($0.name):\($0.value)\n" }.joined()
        let names = canonicalHeaders.map(\.name).joined(separator: ";")
        return [method, Self.encode(path, keeping: "/"), Self.encode(query), fields, names, payloadHash]
            .joined(separator: "\n")
    }

    /// The headers with lower-case names, in order. It joins the values of one name, and squeezes spaces.
    fileprivate var canonicalHeaders: [(name: String, value: String)] {
        Dictionary(grouping: headers) { $0.name.lowercased() }.sorted { $0.key < $1.key }.map { name, all in
            let values = all.map { $0.value.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            return (name: name, value: values.joined(separator: ","))
        }
    }

    /// The query, encoded and in the order of the encoded bytes.
    package static func encode(_ query: [(name: String, value: String)]) -> String {
        query.map { (name: encode($0.name), value: encode($0.value)) }.sorted {
            ($0.name, $0.value) < ($1.name, $1.value)
        }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// Percent-encodes every byte but those of letters, digits and `-._~`. A URL must have the same encoding as in its
    /// signature.
    ///
    /// - Parameter kept: further characters that stay as they are.
    package static func encode(_ text: String, keeping kept: String = "") -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            if unreserved.contains(byte) || kept.utf8.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%" + Hex.encode([byte]).uppercased()
            }
        }
    }

    private static let unreserved = Set(
        "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
}
