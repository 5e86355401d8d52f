import HTTPServer

/// The cookie of a web session: refresh token and device secret, which no script of a page can read.
///
/// The prefix `__Host-` binds it to the API's own host (draft-ietf-httpbis-rfc6265bis, section 4.1.3.2).
struct WebSessionCookie: Equatable, Sendable {
    static let name = "__Host-vestibule"
    /// Auth decides whether a session is over. No session is older than this, in seconds.
    private static let longestLife = 180 * 86_400
    /// The longest token that `RefreshToken` allows.
    private static let longestToken = 128
    private static let attributes = "; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age="

    let refreshToken: String
    let deviceSecret: String?

    /// - Parameter headers: the headers of a request. A cookie that appears twice or has another form does not count.
    init?(_ headers: HTTPHeaders) {
        let values = headers.all("cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.trimmingPrefix(while: { $0 == " " }).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 && parts[0] == Self.name ? parts[1] : nil
        }
        guard values.count == 1 else { return nil }
        let parts = values[0].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), parts.allSatisfy(Self.isToken) else { return nil }
        self.init(refreshToken: parts[0], deviceSecret: parts.count == 2 ? parts[1] : nil)
    }

    init(refreshToken: String, deviceSecret: String?) {
        (self.refreshToken, self.deviceSecret) = (refreshToken, deviceSecret)
    }

    /// The value of `Set-Cookie`; `nil` if a token has a character that would end it.
    var setting: String? {
        let parts = [refreshToken] + [deviceSecret].compactMap { $0 }
        guard parts.allSatisfy(Self.isToken) else { return nil }
        return "\(Self.name)=\(parts.joined(separator: "."))\(Self.attributes)\(Self.longestLife)"
    }

    /// The value of `Set-Cookie` that removes the cookie.
    static let removal = "\(name)=\(attributes)0"

    /// Characters of auth's tokens: those of Base64URL.
    private static func isToken(_ text: String) -> Bool {
        (1...longestToken).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            }
    }

    /// Whether a page of the API's own origin sends the request. Browsers send `Origin` with each POST and DELETE.
    ///
    /// A proxy in front may end TLS, so the scheme is not compared. The cookie is `Secure` in any case.
    static func isOfOwnOrigin(_ headers: HTTPHeaders) -> Bool {
        let (origins, site) = (headers.all("origin"), headers.all("sec-fetch-site"))
        guard origins.count == 1, let host = headers.first("host")?.lowercased(), !host.isEmpty,
            site.allSatisfy({ $0 == "same-origin" })
        else { return false }
        return ["http://\(host)", "https://\(host)"].contains(origins[0].lowercased())
    }
}
