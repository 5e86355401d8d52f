import BusProtocol
import Cryptography

/// The signed address of a photo of a profile. It stays the same for a day (UTC), and can be used for one to two days.
/// The address of a capture, or of a photo in review, is for one look of a reviewer. Of a photo that others may not see,
/// the owner gets an address for one look, too.
struct PhotoAddress: Sendable, Equatable {
    static let folder = "/photos/"
    /// How long the address for one look of a reviewer can be used, in seconds.
    private static let look: Int64 = 60
    /// The same for a look of the owner, in whose app it may be shown a while later.
    private static let ownLook: Int64 = 600

    let media: Identifier
    /// Seconds since 1970.
    let expires: Int64
    /// The smaller size that the request asks for. The signature does not cover it, since a person who may see a photo
    /// may also see it smaller.
    var size: PhotoSize?

    init(forOneLookAt media: Identifier, byOwner isOwner: Bool = false, at now: Timestamp) {
        self.media = media
        expires = now.microsecondsSinceEpoch / 1_000_000 + (isOwner ? Self.ownLook : Self.look)
    }

    init(of media: Identifier, at now: Timestamp) {
        self.media = media
        expires = AddressKey.end(forAllDay: now.microsecondsSinceEpoch / 1_000_000)
    }

    static func path(of media: Identifier) -> String { folder + media.description }

    /// The key that signs the address of this photo alone.
    static func key(of media: Identifier, _ hash: KeyedHash) -> AddressKey {
        AddressKey(of: path(of: media), from: hash)
    }

    /// Path and query.
    func target(_ hash: KeyedHash) -> String {
        "\(Self.path(of: media))?\(Self.key(of: media, hash).query(until: expires))"
    }

    /// Reads an address; `nil` if this service did not sign it.
    init?(path: String, query: String?, _ hash: KeyedHash) {
        let values = SignedQuery(query)
        guard path.hasPrefix(Self.folder), let media = Identifier(String(path.dropFirst(Self.folder.count))),
            let expires = values["expires"].flatMap({ Int64($0) }),
            let signature = values["signature"].flatMap({ Base64URL.decode($0) }),
            Self.key(of: media, hash).accepts(signature, until: expires)
        else { return nil }
        (self.media, self.expires) = (media, expires)
        size = values["size"].flatMap { PhotoSize(rawValue: $0) }
    }
}
