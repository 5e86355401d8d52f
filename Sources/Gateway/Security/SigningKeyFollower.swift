import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText

/// Holds auth's public keys. It asks for them each minute, and earlier when a token names an unknown key.
@Loop final class SigningKeyFollower {
    private let bus: Bus
    private(set) var keys: [String: Ed25519PublicKey] = [:]
    /// The JSON key set as auth wrote it; `nil` before the first reply.
    private(set) var document: [UInt8]?
    private var fetching: LoopPromise<Bool>?
    private var lastFetch: UInt64 = 0
    /// When the gateway sent the last call that auth answered, in nanoseconds of the monotonic clock.
    private var lastWord: UInt64 = 0

    static let interval = Duration.seconds(60)
    /// The least time between two calls because of unknown keys, since anybody can invent a `kid`.
    static let leastInterval = Duration.seconds(2)
    /// Auth publishes a key ten minutes before it signs with it. After a reply within five minutes, all keys are known.
    static let patience = Duration.seconds(300)
    private let patience: Duration

    /// - Parameter patience: after this long without a reply, an unknown key may be one of auth's.
    init(bus: Bus, patience: Duration = patience) { (self.bus, self.patience) = (bus, patience) }

    /// Whether all keys that auth signs with are known.
    var isCurrent: Bool { document != nil && MonotonicClock.now() < lastWord + patience.nanoseconds }

    /// Asks for the keys again and again until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let isHeard = await fetch()
            let pause: Duration = document == nil ? .milliseconds(200) : isHeard ? Self.interval : Self.leastInterval
            try? await Loop.sleep(for: pause)
        }
    }

    /// Asks for the keys because one is missing, at most once per `leastInterval`.
    func refresh() async {
        guard fetching != nil || MonotonicClock.now() > lastFetch + Self.leastInterval.nanoseconds || lastFetch == 0
        else { return }
        await fetch()
    }

    /// - Returns: whether auth answered.
    @discardableResult
    private func fetch() async -> Bool {
        if let fetching { return (try? await fetching.get()) ?? false }
        let promise = LoopPromise<Bool>()
        let began = MonotonicClock.now()
        fetching = promise
        let reply = try? await bus.callRaw(
            type: GetSigningKeys.type, version: GetSigningKeys.version, rules: GetSigningKeys.rules,
            body: Array("{}".utf8),
            CallOptions(timeout: .seconds(2)))
        let set = reply.flatMap { try? WireJSON.decode(SigningKeys.self, from: $0.body) }
        if let set, let reply {
            take(set, reply.body)
            lastWord = began
        }
        lastFetch = MonotonicClock.now()
        fetching = nil
        promise.resolve(.success(set != nil))
        return set != nil
    }

    private func take(_ set: SigningKeys, _ body: [UInt8]) {
        document = body
        keys = [:]
        for key in set.keys where key.kty == "OKP" && key.crv == "Ed25519" && key.alg == "EdDSA" {
            keys[key.kid] = Base64URL.decode(key.x).flatMap { Ed25519PublicKey(raw: $0) }
        }
    }
}
