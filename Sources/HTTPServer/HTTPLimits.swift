/// What a client may cost.
public struct HTTPLimits: Sendable {
    /// Request line, headers and the empty line together; trailers of a chunked body count too. Bytes.
    public var headBytes = 16_384
    /// Header fields, trailers included.
    public var headerCount = 100
    /// Chunk extensions of one body together. Bytes.
    public var chunkExtensionBytes = 4096
    /// Connections at a time. For a further one that which has waited longest for its client gives way; where all are owed
    /// an answer, it waits in the kernel's queue. More than a server takes in hand at a time, so that whoever is too many is
    /// told so, and asks for its health are answered.
    public var connections = 4608
    /// From a request's first byte to the end of its headers.
    public var headTimeout: Duration = .seconds(10)
    /// From the end of the headers to the end of the body.
    public var bodyTimeout: Duration = .seconds(30)
    /// Between two requests of one connection, and before the first.
    public var idleTimeout: Duration = .seconds(60)
    /// How long a client may take nothing of an answer that waits for it.
    public var writeTimeout: Duration = .seconds(30)
    /// How long a refused client is listened to after the answer, so that a reset does not overtake it.
    public var lingerTimeout: Duration = .seconds(2)

    public init() {}
}
