import JSONText

/// A device as it presents itself. `id` is valid only together with `secret`, which the device received with its first
/// session.
@Message
public struct DeviceClaim: MessageValue {
    /// The device's ID from its first session.
    public var id: Identifier?
    /// Proves that it is the device with this ID.
    @Field(.string(1...128)) public var secret: String?
    /// What the person calls the device.
    @Field(.string(1...100)) public var name: String
    /// The device's operating system, or `web`.
    @Field(.platform) public var platform: String
    /// The token for pushes from the platform's push provider.
    @Field(.string(1...4096)) public var pushToken: String?
}
