/// The purpose of an uploaded picture.
enum MediaPurpose: String, Sendable, CaseIterable {
    case profilePhoto = "profile_photo"
    case verification, document
    case recoveryEvidence = "recovery_evidence"

    /// The purpose of the pictures of a verification.
    init(of tier: Tier) { self = tier == .photo ? .verification : .document }

    /// The tier of the verification to which the picture belongs; `nil` if it belongs to none.
    var tier: Tier? { Tier.allCases.first { Self(of: $0) == self } }

    /// How long a picture is kept after it arrived. A photo that gets a place in the profile is kept for longer.
    var life: Duration { self == .recoveryEvidence ? .seconds(30 * 86_400) : .seconds(86_400) }

    /// Whether an operator may back up its key. Without a backup of the key, nobody can read the picture once it is
    /// destroyed here.
    var mayBeBackedUp: Bool { self == .profilePhoto }
}
