import JSONText

/// The devices that an account knows (`GET /users/me/devices`).
public struct ListDevices: BusRequest {
    public typealias Reply = DeviceList
    public static let type: MessageType = "auth.list-devices"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public init() {}
}

/// The answer to ``ListDevices``, the device used last first.
public struct DeviceList: PublicReply {
    public static let schema = JSONSchema.object([.required("devices", .array(of: KnownDevice.schema, count: 0...100))])
    public var devices: [KnownDevice]
    public init(devices: [KnownDevice]) { self.devices = devices }
}

/// Changes a device (`PUT /users/me/devices/{id}`): one's own, or any after a sign-in within five minutes.
public struct PutDevice: BusRequest {
    public typealias Reply = KnownDevice
    public static let type: MessageType = "auth.put-device"
    public static let schema = JSONSchema.object([
        .required("deviceId", .uuid), .required("name", .string(1...100)),
        .required("platform", .values("ios", "android", "web")), .optional("pushToken", .string(1...4096)),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .reauthenticationRequired])

    public var deviceId: Identifier
    public var name: String
    public var platform: String
    public var pushToken: String?

    public init(deviceId: Identifier, name: String, platform: String, pushToken: String? = nil) {
        self.deviceId = deviceId
        self.name = name
        self.platform = platform
        self.pushToken = pushToken
    }
}

/// Forgets a device and ends its sessions (`DELETE /users/me/devices/{id}`): one's own, or any after a sign-in within five
/// minutes. Every device is told, the removed one too, which also hears of a recovery for 30 days more.
public struct RemoveDevice: BusRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.remove-device"
    public static let schema = JSONSchema.object([.required("deviceId", .uuid)])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .reauthenticationRequired])

    public var deviceId: Identifier
    public init(deviceId: Identifier) { self.deviceId = deviceId }
}

/// A device as its owner sees it. The push token itself is never shown.
public struct KnownDevice: PublicReply {
    public static let schema = JSONSchema.object([
        .required("id", .uuid), .required("name", .string(1...100)),
        .required("platform", .values("ios", "android", "web")), .required("hasPushToken", .boolean),
        .optional("push", .values("none", "ok", "expired")),
        .required("current", .boolean), .required("createdAt", .dateTime), .required("lastUsedAt", .dateTime),
    ])
    public var id: Identifier
    public var name: String
    public var platform: String
    public var hasPushToken: Bool
    /// `expired`: the provider called the token dead; a new one from the device clears that. Came later and is optional.
    public var push: String?
    /// The device of the session that asks.
    public var current: Bool
    public var createdAt: Timestamp
    public var lastUsedAt: Timestamp

    public init(
        id: Identifier, name: String, platform: String, hasPushToken: Bool, push: String? = nil, current: Bool,
        createdAt: Timestamp, lastUsedAt: Timestamp
    ) {
        self.id = id
        self.name = name
        self.platform = platform
        self.hasPushToken = hasPushToken
        self.push = push
        self.current = current
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }
}
