/// What a notice to a person is about. An open set: one that auth does not know is sent with a general text.
public struct NoticeKind: RawRepresentable, Hashable, Sendable, ExpressibleByStringInterpolation {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// Goes to removed devices and replaced push tokens, too.
    public var isOfRecovery: Bool { rawValue.hasPrefix("recovery_") }

    public static let newDevice: NoticeKind = "new_device"
    public static let deviceChanged: NoticeKind = "device_changed"
    public static let deviceRemoved: NoticeKind = "device_removed"
    public static let nowEligible: NoticeKind = "now_eligible"
    public static let identityLinked: NoticeKind = "identity_linked"
    public static let identityUnlinked: NoticeKind = "identity_unlinked"
    public static let identityRevoked: NoticeKind = "identity_revoked"
    public static let phoneChanged: NoticeKind = "phone_changed"
    public static let phoneChangeUndone: NoticeKind = "phone_change_undone"
    public static let phoneDetached: NoticeKind = "phone_detached"
    public static let recoveryRequested: NoticeKind = "recovery_requested"
    public static let recoveryReminder: NoticeKind = "recovery_reminder"
    public static let recoveryLastHour: NoticeKind = "recovery_last_hour"
    public static let recoveryDisputed: NoticeKind = "recovery_disputed"
    public static let recoveryContested: NoticeKind = "recovery_contested"
    public static let recoveryCancelled: NoticeKind = "recovery_cancelled"
    public static let recoveryExpired: NoticeKind = "recovery_expired"
    public static let recoveryApproved: NoticeKind = "recovery_approved"
    public static let recoveryRejected: NoticeKind = "recovery_rejected"
    public static let recoveryCompleted: NoticeKind = "recovery_completed"
    public static let recoveryLockOn: NoticeKind = "recovery_lock_on"
    public static let recoveryLockOff: NoticeKind = "recovery_lock_off"
}
