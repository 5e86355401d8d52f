import Foundation
import FoundationNetworking

extension URLRequest {
    /// Makes a POST of a form.
    package init(posting form: [(name: String, value: String)], to url: URL) {
        self.init(url: url)
        httpMethod = "POST"
        httpBody = Data(form.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&").utf8)
        setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    }

    /// Percent-encodes all characters except the unreserved ones of RFC 3986.
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
