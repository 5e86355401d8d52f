import BusProtocol

/// A change of an account's number that can still be undone.
struct PhoneChangeUndo: Sendable {
    /// How long a change can be undone.
    static let patience = Duration.seconds(72 * 3600)
    /// Devices, sessions and identities that were younger than this at the change count as a thief's.
    static let doubt = Duration.seconds(72 * 3600)

    /// The previous number, sealed for the account; `nil` if the account had none.
    let sealed: [UInt8]?
    let at: Timestamp
    /// The session that changed the number.
    let changedBy: Identifier?
    /// Whether a device counts if only codes by email have signed it in. That is so if they were the account's
    /// strongest way in.
    let takesEmailDevices: Bool

    /// Devices, sessions and identities that were added from this time on may be a thief's. A thief may sign in, link
    /// an identity, and then change the number in another session.
    var doubtedSince: Timestamp { at - Self.doubt }
}
