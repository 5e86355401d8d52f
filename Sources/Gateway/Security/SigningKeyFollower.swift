import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText

/// Auth's public keys, asked for each minute, and earlier when a token names one that is not known.
@Loop final class SigningKeyFollower {
    private let bus: Bus
    private(set) var keys: [String: Ed25519PublicKey] = [:]
    /// The key set as auth wrote it; `nil` before the first answer.
    private(set) var document: [UInt8]?
    private var fetching: LoopPromise<Void>?
    private var lastFetch: UInt64 = 0

    static let interval = Duration.seconds(60)
    /// Between two looks that unknown keys caused: anybody can make up a `kid`.
    static let leastInterval = Duration.seconds(2)

    init(bus: Bus) { self.bus = bus }

    /// Until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await fetch()
            try? await Loop.sleep(for: document == nil ? .milliseconds(200) : Self.interval)
        }
    }

    /// Looks for a key that is missing, not more often than `leastInterval`.
    func refresh() async {
        if let fetching { return (try? await fetching.get()) ?? () }
        guard MonotonicClock.now() > lastFetch + Self.leastInterval.nanoseconds || lastFetch == 0 else { return }
        await fetch()
    }

    private func fetch() async {
        if let fetching { return (try? await fetching.get()) ?? () }
        let promise = LoopPromise<Void>()
        fetching = promise
        let reply = try? await bus.callRaw(
            type: GetSigningKeys.type, version: GetSigningKeys.version, rules: GetSigningKeys.rules,
            body: Array("{}".utf8),
            CallOptions(timeout: .seconds(2)))
        if let reply, let set = try? WireJSON.decode(SigningKeys.self, from: reply.body) { take(set, reply.body) }
        lastFetch = MonotonicClock.now()
        fetching = nil
        promise.resolve(.success(()))
    }

    private func take(_ set: SigningKeys, _ body: [UInt8]) {
        document = body
        keys = [:]
        for key in set.keys where key.kty == "OKP" && key.crv == "Ed25519" && key.alg == "EdDSA" {
            keys[key.kid] = Base64URL.decode(key.x).flatMap { Ed25519PublicKey(raw: $0) }
        }
    }
}
