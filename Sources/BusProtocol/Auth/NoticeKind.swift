/// The kind of a notice to a person. An open set: auth sends an unknown kind with a general text.
public struct NoticeKind: RawRepresentable, Hashable, Sendable, ExpressibleByStringInterpolation {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The kind with this name on the wire.
    public init(stringLiteral value: String) { rawValue = value }

    /// The kinds of this release.
    public static let known: [NoticeKind] = [
        newDevice, deviceChanged, deviceRemoved, nowEligible, identityLinked, identityUnlinked, identityRevoked,
        phoneChanged, phoneChangeUndone, phoneDetached, recoveryRequested, recoveryReminder, recoveryLastHour,
        recoveryDisputed, recoveryContested, recoveryCancelled, recoveryExpired, recoveryApproved, recoveryRejected,
        recoveryCompleted, recoveryLockOn, recoveryLockOff, verificationDecided, photoRefused, photoDropped,
    ]

    /// Goes to removed devices and replaced push tokens, too.
    public var isOfRecovery: Bool { rawValue.hasPrefix("recovery_") }

    /// Somebody signed in on a device that the account did not know.
    public static let newDevice: NoticeKind = "new_device"
    /// A device was changed from another one.
    public static let deviceChanged: NoticeKind = "device_changed"
    /// A device was removed.
    public static let deviceRemoved: NoticeKind = "device_removed"
    /// The person reached the minimum age.
    public static let nowEligible: NoticeKind = "now_eligible"
    /// An Apple or Google identity was linked.
    public static let identityLinked: NoticeKind = "identity_linked"
    /// A linked identity was removed.
    public static let identityUnlinked: NoticeKind = "identity_unlinked"
    /// The provider ended a linked identity.
    public static let identityRevoked: NoticeKind = "identity_revoked"
    /// The account has another phone number.
    public static let phoneChanged: NoticeKind = "phone_changed"
    /// The account has its former phone number again.
    public static let phoneChangeUndone: NoticeKind = "phone_change_undone"
    /// Somebody else proved that they hold the number of a dormant account.
    public static let phoneDetached: NoticeKind = "phone_detached"
    /// Somebody asked to recover the account.
    public static let recoveryRequested: NoticeKind = "recovery_requested"
    /// The hold of a recovery is half over.
    public static let recoveryReminder: NoticeKind = "recovery_reminder"
    /// The hold of a recovery ends within an hour.
    public static let recoveryLastHour: NoticeKind = "recovery_last_hour"
    /// The owner disputed a recovery.
    public static let recoveryDisputed: NoticeKind = "recovery_disputed"
    /// A disputed claimant had proof of ownership, so reviewers decide.
    public static let recoveryContested: NoticeKind = "recovery_contested"
    /// The claimant withdrew the recovery.
    public static let recoveryCancelled: NoticeKind = "recovery_cancelled"
    /// The recovery expired, because nobody acted on it after its hold.
    public static let recoveryExpired: NoticeKind = "recovery_expired"
    /// Reviewers approved the recovery.
    public static let recoveryApproved: NoticeKind = "recovery_approved"
    /// Reviewers rejected the recovery.
    public static let recoveryRejected: NoticeKind = "recovery_rejected"
    /// The account has the claimant's phone number.
    public static let recoveryCompleted: NoticeKind = "recovery_completed"
    /// The recovery lock was switched on.
    public static let recoveryLockOn: NoticeKind = "recovery_lock_on"
    /// The recovery lock is being switched off.
    public static let recoveryLockOff: NoticeKind = "recovery_lock_off"
    /// A verification was decided after the app stopped waiting.
    public static let verificationDecided: NoticeKind = "verification_decided"
    /// A reviewer refused a photo of the profile.
    public static let photoRefused: NoticeKind = "photo_refused"
    /// The photo of the profile was an address of another host, which is not shown any more.
    public static let photoDropped: NoticeKind = "photo_dropped"
}
