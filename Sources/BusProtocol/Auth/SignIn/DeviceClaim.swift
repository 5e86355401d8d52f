import JSONText

/// A device as it presents itself. `id` counts only together with `secret`, which the device got with its first session.
@Message
public struct DeviceClaim: MessageValue {
    public var id: Identifier?
    @Field(.string(1...128)) public var secret: String?
    /// What the person calls it.
    @Field(.string(1...100)) public var name: String
    @Field(.values("ios", "android", "web")) public var platform: String
    @Field(.string(1...4096)) public var pushToken: String?
}
