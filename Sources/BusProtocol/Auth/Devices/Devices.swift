import JSONText

/// Lists the devices of an account.
@Message
public struct ListDevices: PublicRequest {
    public typealias Reply = DeviceList
    public static let type: MessageType = "auth.list-devices"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/devices", .user, "Lists the known devices.")
}

/// The reply to ``ListDevices``.
@Message
public struct DeviceList: PublicReply {
    /// The devices, the last used first.
    @Field(count: 0...100) public var devices: [KnownDevice]
}

/// Changes a device: the caller's own, or any device within five minutes of a sign-in.
@Message
public struct PutDevice: PublicRequest {
    public typealias Reply = KnownDevice
    public static let type: MessageType = "auth.put-device"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .reauthenticationRequired])
    public static let route = HTTPRoute(
        .put, "/users/me/devices/{id}", .user, "Changes a known device.")

    /// The device.
    @Field(from: .path("id")) public var deviceId: Identifier
    /// What the person calls the device.
    @Field(.string(1...100)) public var name: String
    /// The device's operating system, or `web`.
    @Field(.platform) public var platform: String
    /// The token for pushes from the platform's push provider. Without it, the device keeps the token that it has.
    @Field(.string(1...4096)) public var pushToken: String?
    /// True removes the device's push token: it gets no more pushes. `pushToken` is ignored then.
    public var clearPushToken: Bool?
}

/// Removes a device and ends its sessions: the caller's own, or any device within five minutes of a sign-in.
///
/// All devices are notified, including the removed one. The removed device is also notified of recoveries for 30 more
/// days.
@Message
public struct RemoveDevice: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.remove-device"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .reauthenticationRequired])
    public static let route = HTTPRoute(
        .delete, "/users/me/devices/{id}", .user, "Forgets a device and ends its sessions.")

    /// The device.
    @Field(from: .path("id")) public var deviceId: Identifier
}

/// A device as its owner sees it. The push token itself is never shown.
@Message
public struct KnownDevice: PublicReply {
    /// The device.
    public var id: Identifier
    /// What the person calls the device.
    @Field(.string(1...100)) public var name: String
    /// The device's operating system, or `web`.
    @Field(.platform) public var platform: String
    /// Whether the device has a push token.
    public var hasPushToken: Bool
    /// `expired`: the push provider refused the token as dead. A new token from the device clears that.
    @Field(.values("none", "ok", "expired")) public var push: String?
    /// Whether the session that asks is on this device.
    public var current: Bool
    /// When the account first saw the device.
    public var createdAt: Timestamp
    /// When the device was last used.
    public var lastUsedAt: Timestamp
}
