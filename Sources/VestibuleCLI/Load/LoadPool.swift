import EventLoop
import Foundation

/// The connections of a load to one server, with a limit on their number.
///
/// Each comes from a loopback address of its own, so that they do not share the limits of one address.
@Loop final class LoadPool {
    private let target: sockaddr_in
    private let most: Int
    private var idle: [LoadConnection] = []
    private var waiting: [UnsafeContinuation<LoadConnection?, Never>] = []
    private var opened = 0
    private var places = 0
    /// How often a person waited for a connection, or this machine had no socket left.
    private(set) var waits = 0
    /// The greatest number of connections at a time.
    private(set) var greatest = 0

    init(to target: sockaddr_in, most: Int) { (self.target, self.most) = (target, most) }

    /// Takes a connection. If all are in use, it waits for one. The caller must give it back.
    ///
    /// - Parameter isNew: whether the caller wants a connection that has carried no call.
    func take(new isNew: Bool = false) async throws(LoadFailure) -> LoadConnection {
        if !isNew {
            while let connection = idle.popLast() {
                if connection.isUsable { return connection }
                places -= 1
            }
        } else if places == most, let oldest = idle.first {
            idle.removeFirst()
            oldest.close()
            places -= 1
        }
        if places < most {
            places += 1
            greatest = max(greatest, places)
            return try open()
        }
        waits += 1
        let handed = await withUnsafeContinuation { waiting.append($0) }
        if let handed, handed.isUsable, !isNew { return handed }
        handed?.close()
        return try open()
    }

    /// Gives a connection back, whether or not it is of use.
    func give(_ connection: LoadConnection) { release(connection.isUsable ? connection : nil) }

    /// Passes a place, perhaps with a connection, to the task that has waited longest.
    private func release(_ connection: LoadConnection?) {
        if !waiting.isEmpty {
            waiting.removeFirst().resume(returning: connection)
        } else if let connection {
            idle.append(connection)
        } else {
            places -= 1
        }
    }

    private func open() throws(LoadFailure) -> LoadConnection {
        opened += 1
        do {
            return try LoadConnection(to: target, from: Self.source(of: opened))
        } catch {
            waits += 1
            release(nil)
            throw error
        }
    }

    /// The loopback address of a connection, from 127.1.0.0 on.
    static func source(of number: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (UInt32(0x7f01_0000) + UInt32(number % 0xf0_0000)).bigEndian
        return address
    }
}
