/// What the connections of one address, or of one network, may have together. A connection may have several shares.
public struct ConnectionShare: Hashable, Sendable {
    /// Whose share it is: connections with the same key have it together.
    public var key: [UInt8]
    /// Connections at a time, 1 or more.
    public var most: Int

    public init(key: [UInt8], most: Int) { (self.key, self.most) = (key, most) }
}
