import BusProtocol
import Cryptography
import JSONText

/// The photo that represents a person. Verification keeps the picture, and profile signs its address for each request.
struct ProfilePhoto: Sendable, Equatable {
    /// The key of the field.
    static let field = "photo"

    /// Without its query.
    let address: String
    let key: AddressKey

    /// The signed address. It stays the same for a day (UTC), and works for one day more.
    func url(at now: Timestamp) -> String {
        "\(address)?\(key.query(until: AddressKey.end(forAllDay: now.microsecondsSinceEpoch / 1_000_000)))"
    }
}

extension ProfileRecord {
    /// Makes this photo represent the person, or none. The field `photo` follows it. An address from before uploads,
    /// which an app wrote there, does not count.
    mutating func show(_ photo: ProfilePhoto?, at now: Timestamp) {
        self.photo = photo
        if let photo {
            fields[ProfilePhoto.field] = .answered(.string(photo.url(at: now)))
        } else if case .skipped = fields[ProfilePhoto.field] {
            // A skip stays: the person goes on without a photo.
        } else {
            fields[ProfilePhoto.field] = nil
        }
    }
}
