import Cryptography
import HTTPServer
import ProcessRuntime

/// Decides who is the operator: whoever has the key, and in the development profile whoever asks from this machine.
struct OperatorAccess: Sendable {
    /// `GATEWAY_OPS_KEY`.
    var key: String?
    /// The development profile.
    var isOpenToThisMachine = false

    /// - Parameter peer: the other end of the connection. What a proxy on this machine passes on comes from elsewhere.
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
