import BusProtocol
import BusRuntime
import EventLoop

/// Asks profile how people may sign in to an app, and remembers each answer for a short time. While profile does not
/// answer, the last answer counts. For the default app that is at first the strictest policy.
@Loop final class SignInRulesReader {
    private struct Place: Hashable {
        let app: String?
        let entry: String?
    }

    /// How long an answer is used. A change of a plan takes effect within this time.
    private static let memory = Duration.seconds(30)
    /// How long profile may take.
    private static let patience = Duration.milliseconds(300)
    /// How long after a failure profile is not asked again.
    private static let pause = Duration.seconds(5)
    /// Only what a plan knows is remembered, so there are few. The limit is for a plan with very many entries.
    private static let mostRemembered = 1024

    private let bus: Bus
    private var known: [Place: (policy: SignInPolicy, until: UInt64)] = [:]

    init(bus: Bus) { self.bus = bus }

    /// - Parameters:
    ///   - app: the publishable key of the app; `nil` for the default app.
    ///   - entry: how the person came to it.
    /// - Throws: ``BusError`` `app_unknown`, `entry_unknown`; `service_unavailable` if profile has never answered for the app.
    func policy(app: String?, entry: String?, _ context: RequestContext) async throws -> SignInPolicy {
        let (place, now) = (Place(app: app, entry: entry), MonotonicClock.now())
        if let known = known[place], now < known.until { return known.policy }
        let options = CallOptions(timeout: min(Self.patience, context.remaining), trace: context.trace.child())
        let policy: SignInPolicy
        do {
            policy = SignInPolicy(try await bus.call(GetSignInRules(app: app, entry: entry), options))
        } catch {
            let isRefused = [ErrorCode.appUnknown, .entryUnknown].contains { $0.name == error.code }
            guard !isRefused, let kept = known[place]?.policy ?? (app == nil && entry == nil ? .beforePlans : nil)
            else { throw error }
            // People sign in while profile does not answer. The next ones do not wait for it.
            known[place] = (kept, now + Self.pause.nanoseconds)
            return kept
        }
        if known.count >= Self.mostRemembered { known = [:] }
        known[place] = (policy, now + Self.memory.nanoseconds)
        return policy
    }
}
