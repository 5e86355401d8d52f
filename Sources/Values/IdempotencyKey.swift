/// Keys with which a repeated request has its effect only once.
public enum IdempotencyKey {
    /// The start of the keys that the gateway makes for requests without a key. Only the gateway and the services
    /// repeat those, and only for a short time.
    ///
    /// A client's key has visible ASCII characters only, so it cannot contain the space.
    public static let gatewayPrefix = "gw "
}
