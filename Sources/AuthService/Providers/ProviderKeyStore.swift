import EventLoop
import Foundation
import FoundationNetworking
import ProviderHTTP

/// The keys of one identity provider, from its key set. Each replica has its own copy.
@Loop final class ProviderKeyStore {
    /// The provider's keys are unknown, or were read too long ago.
    struct Unavailable: Error {}

    private let url: URL
    private let now: @Loop () -> UInt64
    private var policy = ProviderKeyPolicy()
    private var keys: [String: ProviderKey] = [:]
    private var asking: LoopPromise<Void>?
    /// Called after each request with whether it returned keys.
    var onAnswer: @Loop (_ isAnswered: Bool) -> Void = { _ in }

    /// The limit of a request. Two requests and the rest of the sign-in fit into the gateway's five seconds.
    private static let patience = Duration.seconds(2)

    /// - Parameter now: returns nanoseconds of a monotonic clock.
    nonisolated init(url: URL, now: @escaping @Loop () -> UInt64 = MonotonicClock.now) {
        (self.url, self.now) = (url, now)
    }

    /// - Returns: `nil` if the provider does not have the key.
    func key(_ kid: String) async throws(Unavailable) -> ProviderKey? {
        var step = step(for: kid)
        if let asking, keys[kid] == nil || step == .unavailable {
            try? await asking.get()
            step = self.step(for: kid)
        } else if step == .ask {
            await ask()
            step = self.step(for: kid)
        }
        switch step {
        case .decide: return keys[kid]
        case .decideAndAsk:
            Loop.spawn { [self] in await ask() }
            return keys[kid]
        case .ask, .unavailable: throw Unavailable()
        }
    }

    /// - Throws: ``Unavailable`` if no token could be checked now.
    func mustBeKnown() async throws(Unavailable) { _ = try await key(keys.keys.first ?? "") }

    /// Requests the keys even while no one signs in. So they are recent whenever an outage of the provider begins.
    func renew() async {
        if let asking { _ = try? await asking.get() } else { await ask() }
    }

    private func step(for kid: String) -> ProviderKeyPolicy.Step {
        policy.step(isKnownKey: keys[kid] != nil, at: now())
    }

    private func ask() async {
        let promise = LoopPromise<Void>()
        asking = promise
        let began = now()
        policy.noteRequest(at: began)
        let answer = await ProviderClient.ask(URLRequest(url: url), within: Self.patience)
        if case .success(let answer) = answer, answer.status == 200, let set = ProviderKeySet(answer.body) {
            keys = set.keys
            policy.noteAnswer(askedAt: began)
            onAnswer(true)
        } else {
            policy.noteFailure()
            onAnswer(false)
        }
        asking = nil
        promise.resolve(.success(()))
    }
}
