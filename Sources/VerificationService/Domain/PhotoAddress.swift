import BusProtocol
import Cryptography

/// The signed address of a photo of a profile. It stays the same for a day (UTC), and can be used for one to two days. That of a
/// capture is for one look of a reviewer.
struct PhotoAddress: Sendable, Equatable {
    static let folder = "/photos/"
    private static let day: Int64 = 86_400

    let media: Identifier
    /// Seconds since 1970.
    let expires: Int64

    /// How long the address of a capture can be used.
    private static let look: Int64 = 60

    init(ofCapture media: Identifier, at now: Timestamp) {
        self.media = media
        expires = now.microsecondsSinceEpoch / 1_000_000 + Self.look
    }

    init(of media: Identifier, at now: Timestamp) {
        self.media = media
        expires = (now.microsecondsSinceEpoch / 1_000_000 / Self.day + 2) * Self.day
    }

    private var path: String { Self.folder + media.description }
    private func code(_ key: KeyedHash) -> [UInt8] { key.code(for: "GET\n\(path)\n\(expires)") }

    /// Path and query.
    func target(_ key: KeyedHash) -> String {
        "\(path)?expires=\(expires)&signature=\(Base64URL.encode(code(key)))"
    }

    /// Reads an address; `nil` if this service did not sign it.
    init?(path: String, query: String?, _ key: KeyedHash) {
        let values = SignedQuery(query)
        guard path.hasPrefix(Self.folder), let media = Identifier(String(path.dropFirst(Self.folder.count))),
            let expires = values["expires"].flatMap({ Int64($0) }),
            let signature = values["signature"].flatMap({ Base64URL.decode($0) })
        else { return nil }
        (self.media, self.expires) = (media, expires)
        guard constantTimeEqual(code(key), signature) else { return nil }
    }
}
