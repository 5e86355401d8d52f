/// Keys under which a request has its effect once.
public enum IdempotencyKey {
    /// Keys that the gateway makes for requests that came without one begin so: nobody but the house repeats them, and not
    /// for long. The space is what a client's key, of visible ASCII, cannot have.
    public static let gatewayPrefix = "gw "
}
