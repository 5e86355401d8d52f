import Cryptography
import Foundation
import FoundationNetworking
import ProcessRuntime
import Values

/// Posts signed JSON to a URL that an operator owns.
///
/// `Vestibule-Signature` is `v1=` and the HMAC-SHA-256, in hex, of `Vestibule-Timestamp` (seconds since 1970), a dot
/// and the body. `Idempotency-Key` is the same in each attempt to send the same item.
package struct Webhook: Sendable {
    /// Where to post.
    package let url: URL
    private let key: [UInt8]

    /// The least length of a key. A shorter key could be guessed from a signature and its text.
    private static let shortestKey = 32

    /// Takes the URL and the key of the signature.
    package init(url: URL, key: [UInt8]) { (self.url, self.key) = (url, key) }

    /// The webhook of the variables with a prefix, such as `SMS_WEBHOOK`.
    package init(_ prefix: String, _ configuration: Configuration) throws(ConfigurationError) {
        let key = try configuration.text("\(prefix)_KEY")
        guard key.utf8.count >= Self.shortestKey else {
            throw ConfigurationError("\(prefix)_KEY must have \(Self.shortestKey) characters or more")
        }
        self.init(url: try ProviderSettings.url("\(prefix)_URL", configuration), key: Array(key.utf8))
    }

    /// A signed request with a body of JSON.
    package func request(_ id: Identifier, _ body: [UInt8]) -> URLRequest {
        let timestamp = "\(Int64(Date().timeIntervalSince1970))"
        let signature = Hex.encode(HMACSHA256.code(for: Array("\(timestamp).".utf8) + body, key: key))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(id.description, forHTTPHeaderField: "Idempotency-Key")
        request.setValue(timestamp, forHTTPHeaderField: "Vestibule-Timestamp")
        request.setValue("v1=\(signature)", forHTTPHeaderField: "Vestibule-Signature")
        return request
    }
}
