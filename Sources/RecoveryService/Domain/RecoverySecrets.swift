import BusProtocol
import Cryptography
import Database

/// Tokens of recovery: random, told by their prefix, kept as keyed hashes.
struct RecoverySecrets: Sendable {
    private let tokenHash: KeyedHash
    private let requestHash: KeyedHash
    private let addressHash: KeyedHash

    init(_ keys: KeyRing) {
        tokenHash = KeyedHash(keys, purpose: "recovery-token")
        requestHash = KeyedHash(keys, purpose: "recovery-request")
        addressHash = KeyedHash(keys, purpose: "client-address")
    }

    func hash(of token: String) -> [UInt8] { tokenHash.code(for: token) }
    /// Follows from the key, whose it is, and the whole body.
    func caseID(of request: InboxRequest) -> Identifier {
        .derived(from: requestHash.code(for: Array("\(request.scope)\n\(request.key)\n".utf8) + request.body))
    }
    func hash(ofAddress address: String) -> [UInt8] { addressHash.code(for: address) }
}

/// What an operator allows.
struct RecoveryPolicy: Sendable {
    /// Seconds.
    var hold: Int64 = 259_200
    /// Requests of a claimant's number within 30 days.
    var perPhone: Int64 = 3
    /// Requests from a client address within a day.
    var perAddressDay: Int64 = 20

    /// Seconds that a freeze lasts at the most: the hold and the fourteen days in which somebody must act.
    var freeze: Int64 { hold + 1_209_600 }
    /// Seconds that a disputed claimant's number is barred from the account.
    static let bar: Int64 = 2_592_000
}
