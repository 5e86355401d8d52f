import Cryptography

/// Who asks for a challenge, as its row says it: a device of the account, or a stranger at a client address.
struct ChallengePrincipal: RawRepresentable, Sendable, Equatable {
    let rawValue: String

    /// - Parameter address: its keyed hash.
    static func stranger(at address: [UInt8]) -> ChallengePrincipal {
        ChallengePrincipal(rawValue: "address \(Hex.encode(address))")
    }

    /// No device of the account asks.
    var isStranger: Bool { rawValue.hasPrefix("address ") }
}
