import BusProtocol
import BusRuntime
import EventLoop

/// The sessions that auth has ended, learnt by a long poll. While it hears nothing it is stale, and then sessions are
/// asked about one by one.
@Loop final class RevocationFollower {
    /// Without word for so long, what is known here may be too old.
    static let patience = Duration.seconds(1)
    /// Below `patience`, so that an answer without news comes before it.
    private static let wait = Duration.milliseconds(400)
    private static let retry = Duration.milliseconds(100)
    private static let breath = Duration.milliseconds(50)

    private let bus: Bus
    private var ended: [Identifier: Timestamp] = [:]
    private var cursor: Int64?
    private var lastWord: UInt64?

    init(bus: Bus) { self.bus = bus }

    /// The log was read to its end once: everything that was revoked before is known.
    var hasSnapshot: Bool { lastWord != nil }

    var isStale: Bool {
        guard let lastWord else { return true }
        return MonotonicClock.now() > lastWord + Self.patience.nanoseconds
    }

    func isRevoked(_ session: Identifier) -> Bool { ended[session] != nil }

    /// Until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                let asked = MonotonicClock.now()
                let request = FollowRevocations(after: cursor, waitMs: Self.wait.milliseconds)
                let news = try await bus.call(request, CallOptions(timeout: .seconds(2)))
                take(news, askedAt: asked)
                // While many sessions end, the log has news at each look.
                if !news.revocations.isEmpty, !news.isFullPage { try? await Loop.sleep(for: Self.breath) }
            } catch {
                try? await Loop.sleep(for: Self.retry)
            }
        }
    }

    private func take(_ news: RevocationsFollowed, askedAt asked: UInt64) {
        let isQuiet = cursor != nil && news.cursor == cursor
        cursor = news.cursor
        // Behind a full page the log goes on, and what was revoked last is not known yet. An answer that was long on its way
        // says nothing of what was revoked meanwhile. Auth ends its wait with the first news, which may have been there at
        // once; where the cursor stays it looked last at the end of the wait.
        if !news.isFullPage {
            lastWord = isQuiet ? min(MonotonicClock.now(), asked + Self.wait.nanoseconds) : asked
        }
        for revocation in news.revocations { ended[revocation.sessionID] = revocation.forgetAt }
        guard !news.revocations.isEmpty else { return }
        let now = Timestamp.now()
        ended = ended.filter { $0.value > now }
    }
}
