import BusProtocol
import BusRuntime
import EventLoop

/// Asks profile how people may sign in to an app, and remembers each answer for a short time.
@Loop final class SignInRulesReader {
    private struct Place: Hashable {
        let app: String?
        let entry: String?
    }

    /// How long an answer is used. A change of a plan takes effect within this time.
    private static let memory = Duration.seconds(30)
    /// Only what a plan knows is remembered, so there are few. The limit is for a plan with very many entries.
    private static let mostRemembered = 1024

    private let bus: Bus
    private var known: [Place: (policy: SignInPolicy, until: UInt64)] = [:]

    init(bus: Bus) { self.bus = bus }

    /// - Parameters:
    ///   - app: the publishable key of the app; `nil` for the default app.
    ///   - entry: how the person came to it.
    /// - Throws: ``BusError`` `app_unknown`, `entry_unknown`; `service_unavailable` if profile does not answer.
    func policy(app: String?, entry: String?, _ context: RequestContext) async throws -> SignInPolicy {
        let (place, now) = (Place(app: app, entry: entry), MonotonicClock.now())
        if let known = known[place], now < known.until { return known.policy }
        let options = CallOptions(timeout: context.remaining, trace: context.trace.child())
        let policy: SignInPolicy
        do {
            policy = SignInPolicy(try await bus.call(GetSignInRules(app: app, entry: entry), options))
        } catch {
            guard error.code == ErrorCode.unknownMessage.name, app == nil, entry == nil else { throw error }
            return .beforePlans
        }
        if known.count >= Self.mostRemembered { known = [:] }
        known[place] = (policy, now + Self.memory.nanoseconds)
        return policy
    }
}
