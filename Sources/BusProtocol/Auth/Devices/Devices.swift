import JSONText

/// The devices that an account knows.
@Message
public struct ListDevices: PublicRequest {
    public typealias Reply = DeviceList
    public static let type: MessageType = "auth.list-devices"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/devices", .user, "Lists the known devices.")
}

/// The answer to ``ListDevices``, the device used last first.
@Message
public struct DeviceList: PublicReply {
    @Field(count: 0...100) public var devices: [KnownDevice]
}

/// Changes a device: one's own, or any after a sign-in within five minutes.
@Message
public struct PutDevice: PublicRequest {
    public typealias Reply = KnownDevice
    public static let type: MessageType = "auth.put-device"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .reauthenticationRequired])
    public static let route = HTTPRoute(
        .put, "/users/me/devices/{id}", .user, "Changes a known device.")

    @Field(from: .path("id")) public var deviceId: Identifier
    @Field(.string(1...100)) public var name: String
    @Field(.values("ios", "android", "web")) public var platform: String
    @Field(.string(1...4096)) public var pushToken: String?
}

/// Forgets a device and ends its sessions: one's own, or any after a sign-in within five
/// minutes. Every device is told, the removed one too, which also hears of a recovery for 30 days more.
@Message
public struct RemoveDevice: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.remove-device"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .reauthenticationRequired])
    public static let route = HTTPRoute(
        .delete, "/users/me/devices/{id}", .user, "Forgets a device and ends its sessions.", success: 204)

    @Field(from: .path("id")) public var deviceId: Identifier
}

/// A device as its owner sees it. The push token itself is never shown.
@Message
public struct KnownDevice: PublicReply {
    public var id: Identifier
    @Field(.string(1...100)) public var name: String
    @Field(.values("ios", "android", "web")) public var platform: String
    public var hasPushToken: Bool
    /// `expired`: the provider called the token dead; a new one from the device clears that.
    @Field(.values("none", "ok", "expired")) public var push: String?
    /// The device of the session that asks.
    public var current: Bool
    public var createdAt: Timestamp
    public var lastUsedAt: Timestamp
}
