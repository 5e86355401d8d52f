import Foundation
import HTTPServer
import ProcessRuntime

/// Finds out who is behind a request: a trusted proxy is believed, anybody else is who connects.
struct ClientAddress: Sendable {
    let trustedProxies: [Network]

    /// A trusted proxy that says nothing, or nothing that can be read: it would hide every client behind one address.
    struct Unknown: Error {}

    /// - Returns: the connection's other end, or, where that is a trusted proxy, the rightmost entry of
    ///   `X-Forwarded-For` over all its lines that is none.
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
