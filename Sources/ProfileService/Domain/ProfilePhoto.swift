import BusProtocol
import Cryptography
import JSONText

/// The photo that stands for a person. Verification keeps the picture; profile signs its address when somebody asks.
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
    /// Lets this photo, or none, stand for the person. The field follows it: an address that an app wrote there before
    /// photos were uploaded counts for nothing.
    mutating func show(_ photo: ProfilePhoto?, at now: Timestamp) {
        self.photo = photo
        if let photo {
            fields[ProfilePhoto.field] = .answered(.string(photo.url(at: now)))
        } else if case .skipped = fields[ProfilePhoto.field] {
            // The person may go on without one.
        } else {
            fields[ProfilePhoto.field] = nil
        }
    }
}
