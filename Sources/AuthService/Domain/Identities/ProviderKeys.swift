import Cryptography
import JSONText

/// A public key of an identity provider.
enum ProviderKey: Sendable, Hashable {
    case rsa(RSAPublicKey)
    case p256(P256PublicKey)

    /// The only algorithm (RFC 7518) for the key.
    var algorithm: String {
        switch self {
        case .rsa: "RS256"
        case .p256: "ES256"
        }
    }

    func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        switch self {
        case .rsa(let key): key.isValid(signature: signature, for: message)
        case .p256(let key): key.isValid(signature: signature, for: message)
        }
    }

    /// Reads a JSON Web Key (RFC 7517). It is `nil` for a key that is not for signatures, or has inconsistent members.
    init?(_ key: JSONNode) {
        guard key["use"].map({ $0.string == "sig" }) ?? true, key["d"] == nil else { return nil }
        func bytes(_ name: String) -> [UInt8]? { key[name]?.string.flatMap(Base64URL.decode) }
        switch key["kty"]?.string {
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e"),
                let rsa = RSAPublicKey(modulus: modulus, exponent: exponent)
            else { return nil }
            self = .rsa(rsa)
        case "EC":
            guard key["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y"),
                let point = P256PublicKey(x: x, y: y)
            else { return nil }
            self = .p256(point)
        default: return nil
        }
        guard key["alg"].map({ $0.string == algorithm }) ?? true else { return nil }
    }
}

/// The keys of an identity provider (RFC 7517, section 5) by `kid`.
struct ProviderKeySet: Sendable, Equatable {
    let keys: [String: ProviderKey]

    /// `nil` if the text is not a key set, or has no usable key.
    init?(_ text: [UInt8]) {
        guard let root = try? JSONDocument(text).root else { return nil }
        var keys: [String: ProviderKey] = [:]
        for node in root["keys"]?.elements ?? [] {
            guard let kid = node["kid"]?.string, let key = ProviderKey(node) else { continue }
            keys[kid] = key
        }
        guard !keys.isEmpty else { return nil }
        self.keys = keys
    }
}

/// Decides when to request a provider's keys, and how long the known keys are valid. It uses no clock: times are in
/// nanoseconds of a monotonic clock.
struct ProviderKeyPolicy: Sendable {
    /// Keys of this age are requested again, while they are still valid.
    static let renewal = Duration.seconds(900)
    /// How long keys stay valid without a response of the provider. An outage of an hour does no harm, and a withdrawn
    /// key is not accepted for ever.
    static let life = Duration.seconds(2 * 3600)
    /// The least time between two requests because of unknown keys, since anybody can invent a `kid`.
    static let leastPause = Duration.seconds(60)
    /// The least time between two requests while there are no valid keys.
    static let shortPause = Duration.seconds(5)

    enum Step: Equatable, Sendable {
        /// Decide with the known keys.
        case decide
        /// Decide with the known keys, and request newer ones meanwhile.
        case decideAndAsk
        /// Request the keys first.
        case ask
        /// There are no valid keys now.
        case unavailable
    }

    /// When the known keys were requested; `nil` if there are none.
    private var known: UInt64?
    private var lastRequest: UInt64?
    private var lastFailed = false

    mutating func noteRequest(at now: UInt64) { lastRequest = now }

    /// - Parameter asked: when the answered request was sent.
    mutating func noteAnswer(askedAt asked: UInt64) { (known, lastFailed) = (asked, false) }
    mutating func noteFailure() { lastFailed = true }

    /// The next step for a token.
    ///
    /// - Parameter isKnownKey: whether its `kid` is that of a known key.
    func step(isKnownKey: Bool, at now: UInt64) -> Step {
        guard let known, now < known + Self.life.nanoseconds else {
            return mayAsk(after: Self.shortPause, at: now) ? .ask : .unavailable
        }
        if isKnownKey {
            let isOld = now >= known + Self.renewal.nanoseconds
            return isOld && mayAsk(after: Self.leastPause, at: now) ? .decideAndAsk : .decide
        }
        if mayAsk(after: Self.leastPause, at: now) { return .ask }
        // The last request failed, so the unknown key may be a new one of the provider.
        return lastFailed ? .unavailable : .decide
    }

    private func mayAsk(after pause: Duration, at now: UInt64) -> Bool {
        lastRequest.map { now >= $0 + pause.nanoseconds } ?? true
    }
}
