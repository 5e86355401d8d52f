import BusProtocol
import BusRuntime
import EventLoop

/// The sessions that auth has revoked, read from auth's log by long polls.
///
/// Without recent replies it is stale. The gateway then asks auth about each session: ``SessionChecker``.
@Loop final class RevocationFollower {
    /// After this long without a reply, the list counts as stale.
    static let patience = Duration.seconds(1)
    /// How long auth waits for news. It is shorter than `patience`, so that a reply without news comes in time. Auth
    /// looks at the log at each second aligned tick. A call begins some milliseconds after such a tick, so it ends with
    /// the look 400 ms after that.
    private static let wait = Duration.milliseconds(350)
    private static let retry = Duration.milliseconds(100)
    private static let breath = Duration.milliseconds(50)

    private let bus: Bus
    private var ended: [Identifier: Timestamp] = [:]
    private var cursor: Int64?
    private var lastWord: UInt64?

    init(bus: Bus) { self.bus = bus }

    /// Whether the log was read to its end once, so that all earlier revocations are known.
    var hasSnapshot: Bool { lastWord != nil }

    var isStale: Bool {
        guard let lastWord else { return true }
        return MonotonicClock.now() > lastWord + Self.patience.nanoseconds
    }

    func isRevoked(_ session: Identifier) -> Bool { ended[session] != nil }

    /// Follows the log until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                let asked = MonotonicClock.now()
                let request = FollowRevocations(after: cursor, waitMs: Self.wait.milliseconds)
                let news = try await bus.call(request, CallOptions(timeout: .seconds(2)))
                take(news, askedAt: asked)
                // While many sessions end, every poll would return at once. The pause lets auth collect several
                // revocations.
                if !news.revocations.isEmpty, !news.isFullPage { try? await Loop.sleep(for: Self.breath) }
            } catch {
                try? await Loop.sleep(for: Self.retry)
            }
        }
    }

    private func take(_ news: RevocationsFollowed, askedAt asked: UInt64) {
        let isQuiet = cursor != nil && news.cursor == cursor
        cursor = news.cursor
        // After a full page the log goes on, so the newest revocations are not known yet. A reply says nothing about
        // revocations after auth read the log. With news, auth may have read it as soon as it was asked. Without news,
        // auth read it last at the end of the wait.
        if !news.isFullPage {
            lastWord = isQuiet ? min(MonotonicClock.now(), asked + Self.wait.nanoseconds) : asked
        }
        for revocation in news.revocations { ended[revocation.sessionID] = revocation.forgetAt }
        guard !news.revocations.isEmpty else { return }
        let now = Timestamp.now()
        ended = ended.filter { $0.value > now }
    }
}
