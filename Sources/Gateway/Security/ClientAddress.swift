import Foundation
import HTTPServer
import ProcessRuntime

/// Finds the client's address of a request. Only a trusted proxy may name an address other than its own.
struct ClientAddress: Sendable {
    let trustedProxies: [Network]

    /// A trusted proxy named no readable address. If the gateway took the proxy's own address, all its clients would
    /// share one.
    struct Unknown: Error {}

    /// - Returns: the peer of the connection. If the peer is a trusted proxy, it is the rightmost entry of all
    ///   `X-Forwarded-For` lines that is not a trusted proxy.
    func find(peer: String, headers: HTTPHeaders) throws(Unknown) -> String {
        guard isTrusted(peer) else { return peer }
        let entries = headers.all("x-forwarded-for").joined(separator: ",").split(separator: ",")
        for entry in entries.reversed() {
            let trimmed = entry.trimmingCharacters(in: .whitespaces)
            guard NetworkAddress(trimmed) != nil else { throw Unknown() }
            if !isTrusted(trimmed) { return trimmed }
        }
        throw Unknown()
    }

    func isTrusted(_ text: String) -> Bool {
        guard !trustedProxies.isEmpty, let address = NetworkAddress(text) else { return false }
        return trustedProxies.contains { $0.contains(address) }
    }
}
