/// A limit for the connections of one address or network together. A connection may have several shares.
public struct ConnectionShare: Hashable, Sendable {
    /// The address or network. Connections with the same key share the limit.
    public var key: [UInt8]
    /// The most connections at a time, from 1.
    public var most: Int

    /// Makes a share of `most` connections for the address or network `key`.
    public init(key: [UInt8], most: Int) { (self.key, self.most) = (key, most) }
}
