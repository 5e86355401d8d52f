import JSONText

/// A device as it presents itself. `id` counts only together with `secret`, which the device got with its first session.
public struct DeviceClaim: Codable, Sendable, Equatable {
    public static let schema = JSONSchema.object([
        .optional("id", .uuid), .optional("secret", .string(1...128)),
        .required("name", .string(1...100), "What the person calls it"),
        .required("platform", .values("ios", "android", "web")),
        .optional("pushToken", .string(1...4096)),
    ])
    public var id: Identifier?
    public var secret: String?
    public var name: String
    public var platform: String
    public var pushToken: String?

    public init(
        id: Identifier? = nil, secret: String? = nil, name: String, platform: String, pushToken: String? = nil
    ) {
        self.id = id
        self.secret = secret
        self.name = name
        self.platform = platform
        self.pushToken = pushToken
    }
}
