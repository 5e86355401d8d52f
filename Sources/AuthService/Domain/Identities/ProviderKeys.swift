import Cryptography
import JSONText

/// A key that an identity provider signs with.
enum ProviderKey: Sendable, Hashable {
    case rsa(RSAPublicKey)
    case p256(P256PublicKey)

    /// The one algorithm (RFC 7518) that the key verifies.
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

    /// A JSON Web Key (RFC 7517); `nil` for one that is not for signatures, or whose members do not go together.
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

    /// `nil` for what is no key set, or has no key that can be used here.
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

/// When a provider's keys are asked for, and for how long those that are known count. No clock in here: moments are
/// nanoseconds of a monotonic clock.
struct ProviderKeyPolicy: Sendable {
    /// Keys that are older are asked for again, while they count.
    static let renewal = Duration.seconds(900)
    /// Keys count for so long without word from the provider: an hour's outage is not noticed, and a key that was withdrawn
    /// is not taken for ever.
    static let life = Duration.seconds(2 * 3600)
    /// Between two requests that tokens of unknown keys cause: anybody can make up a `kid`.
    static let leastPause = Duration.seconds(60)
    /// Between two requests while there are no keys that count.
    static let shortPause = Duration.seconds(5)

    enum Step: Equatable, Sendable {
        /// With the keys that are known.
        case decide
        /// With the keys that are known, and ask for newer ones meanwhile.
        case decideAndAsk
        /// Ask first.
        case ask
        /// No keys can be had now.
        case unavailable
    }

    /// When the keys that are known were asked for; `nil` where there are none.
    private var known: UInt64?
    private var lastRequest: UInt64?
    private var lastFailed = false

    mutating func noteRequest(at now: UInt64) { lastRequest = now }

    /// - Parameter asked: when the request was made that was answered.
    mutating func noteAnswer(askedAt asked: UInt64) { (known, lastFailed) = (asked, false) }
    mutating func noteFailure() { lastFailed = true }

    /// What to do about a token.
    ///
    /// - Parameter isKnownKey: its `kid` is one of the keys that are known.
    func step(isKnownKey: Bool, at now: UInt64) -> Step {
        guard let known, now < known + Self.life.nanoseconds else {
            return mayAsk(after: Self.shortPause, at: now) ? .ask : .unavailable
        }
        if isKnownKey {
            let isOld = now >= known + Self.renewal.nanoseconds
            return isOld && mayAsk(after: Self.leastPause, at: now) ? .decideAndAsk : .decide
        }
        if mayAsk(after: Self.leastPause, at: now) { return .ask }
        // The provider said nothing when it was asked last: the key may be a new one of its.
        return lastFailed ? .unavailable : .decide
    }

    private func mayAsk(after pause: Duration, at now: UInt64) -> Bool {
        lastRequest.map { now >= $0 + pause.nanoseconds } ?? true
    }
}
