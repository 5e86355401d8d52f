import BusProtocol
import Cryptography

/// The signed address to which one picture is sent once.
///
/// The signature covers the method, the path, the content type, the length, the end of its time and the owner. So the
/// service checks everything but the single use without the database.
struct UploadAddress: Sendable, Equatable {
    static let folder = "/uploads/"

    let media: Identifier
    let owner: Identifier
    let contentType: String
    let length: Int64
    /// Seconds since 1970.
    let expires: Int64

    private var path: String { Self.folder + media.description }

    private func code(_ key: KeyedHash) -> [UInt8] {
        key.code(for: "PUT\n\(path)\n\(contentType)\n\(length)\n\(expires)\n\(owner)")
    }

    /// Path and query.
    func target(_ key: KeyedHash) -> String {
        "\(path)?type=\(contentType)&length=\(length)&expires=\(expires)&owner=\(owner)"
            + "&signature=\(Base64URL.encode(code(key)))"
    }

    /// Reads an address; `nil` if this service did not sign it.
    init?(path: String, query: String?, _ key: KeyedHash) {
        let values = SignedQuery(query)
        guard path.hasPrefix(Self.folder), let media = Identifier(String(path.dropFirst(Self.folder.count))),
            let owner = values["owner"].flatMap({ Identifier($0) }), let contentType = values["type"],
            let length = values["length"].flatMap({ Int64($0) }),
            let expires = values["expires"].flatMap({ Int64($0) }),
            let signature = values["signature"].flatMap({ Base64URL.decode($0) })
        else { return nil }
        self.init(media: media, owner: owner, contentType: contentType, length: length, expires: expires)
        guard constantTimeEqual(code(key), signature) else { return nil }
    }

    init(media: Identifier, owner: Identifier, contentType: String, length: Int64, expires: Int64) {
        (self.media, self.owner, self.contentType) = (media, owner, contentType)
        (self.length, self.expires) = (length, expires)
    }

    /// Why this request may not send its body.
    ///
    /// - Parameters:
    ///   - contentType: the header; `nil` without one.
    ///   - length: the header `Content-Length`; `nil` without one.
    ///   - now: in seconds since 1970.
    func refusal(contentType: String?, length: Int64?, now: Int64) -> BusError? {
        guard now < expires else { return Self.expired }
        guard contentType?.lowercased() == self.contentType else {
            return BusError(.unsupportedMediaType, "The picture has another content type than announced.")
        }
        guard length == self.length else {
            return BusError(
                length.map { $0 > self.length } == true ? .bodyTooLarge : .validationFailed,
                "The picture has another length than announced.")
        }
        return nil
    }

    static let unknown = BusError(.forbidden, "This address is not one of ours. Please ask for a new one.")
    static let expired = BusError(.uploadExpired, "The time of this address is over. Please ask for a new one.")
    static let used = BusError(.uploadUsed, "This address was used already. Please ask for a new one.")
}

/// The parameters of a signed address. Their values need no percent-encoding.
struct SignedQuery {
    private var values: [Substring: String] = [:]

    init(_ query: String?) {
        for part in (query ?? "").split(separator: "&") {
            let pieces = part.split(separator: "=", maxSplits: 1)
            if pieces.count == 2 { values[pieces[0]] = String(pieces[1]) }
        }
    }

    subscript(name: Substring) -> String? { values[name] }
}
