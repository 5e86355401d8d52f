import Cryptography

/// The requester of a challenge, in the form of its row: a device of the account, or a stranger at a client address.
struct ChallengePrincipal: RawRepresentable, Sendable, Equatable {
    let rawValue: String

    /// - Parameter address: its keyed hash.
    static func stranger(at address: [UInt8]) -> ChallengePrincipal {
        ChallengePrincipal(rawValue: "address \(Hex.encode(address))")
    }

    /// Whether the requester is not a device of the account.
    var isStranger: Bool { rawValue.hasPrefix("address ") }
}
