/// What a picture is uploaded for.
enum MediaPurpose: String, Sendable, CaseIterable {
    case profilePhoto = "profile_photo"
    case verification, document
    case recoveryEvidence = "recovery_evidence"

    /// What the pictures of a verification are for.
    init(of tier: Tier) { self = tier == .photo ? .verification : .document }

    /// How long a picture is kept after it arrived. A photo that gets a place in the profile is kept for longer.
    var life: Duration { self == .recoveryEvidence ? .seconds(30 * 86_400) : .seconds(86_400) }

    /// Whether an operator may back up its key. Without a backup of the key, nobody reads the picture once it is
    /// destroyed here.
    var mayBeBackedUp: Bool { self == .profilePhoto }
}
