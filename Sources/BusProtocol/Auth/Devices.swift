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

/// A device as its owner sees it. The push token itself is never shown.
public struct KnownDevice: PublicReply {
    public static let schema = JSONSchema.object([
        .required("id", .uuid), .required("name", .string(1...100)),
        .required("platform", .values("ios", "android", "web")), .required("hasPushToken", .boolean),
        .required("current", .boolean), .required("createdAt", .dateTime), .required("lastUsedAt", .dateTime),
    ])
    public var id: Identifier
    public var name: String
    public var platform: String
    public var hasPushToken: Bool
    /// The device of the session that asks.
    public var current: Bool
    public var createdAt: Timestamp
    public var lastUsedAt: Timestamp

    public init(
        id: Identifier, name: String, platform: String, hasPushToken: Bool, current: Bool, createdAt: Timestamp,
        lastUsedAt: Timestamp
    ) {
        self.id = id
        self.name = name
        self.platform = platform
        self.hasPushToken = hasPushToken
        self.current = current
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }
}
