/// A limit for the connections of one address or network together. A connection may have several shares.
package struct ConnectionShare: Hashable, Sendable {
    /// The address or network. Connections with the same key share the limit.
    package var key: [UInt8]
    /// The most connections at a time, from 1.
    package var most: Int

    /// Makes a share of `most` connections for the address or network `key`.
    package init(key: [UInt8], most: Int) { (self.key, self.most) = (key, most) }
}
