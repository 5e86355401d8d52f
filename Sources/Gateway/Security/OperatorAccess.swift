import Cryptography
import HTTPServer
import ProcessRuntime

/// Decides whether a caller is the operator. A caller with the key is. In the development profile, every caller on this
/// machine is, too.
struct OperatorAccess: Sendable {
    /// `GATEWAY_OPS_KEY`.
    var key: String?
    /// Whether callers on this machine need no key. This is true in the development profile only.
    var isOpenToThisMachine = false

    /// - Parameter peer: the address of the connection's other end. A request that a proxy forwards does not count as
    ///   coming from this machine.
    func admits(_ headers: HTTPHeaders, peer: String) -> Bool {
        let credentials = headers.all("authorization")
        if let key, credentials.count == 1,
            constantTimeEqual(Array(credentials[0].utf8), Array("Bearer \(key)".utf8))
        {
            return true
        }
        let isPassedOn = headers.first("forwarded") != nil || headers.first("x-forwarded-for") != nil
        return isOpenToThisMachine && !isPassedOn && NetworkAddress(peer)?.isLoopback == true
    }
}
