import BusProtocol
import BusRuntime
import EventLoop

/// Answers in place of profile how people sign in to an app. The default app takes every method, and requires a phone
/// of everybody.
@Loop package final class SignInRulesOfTests: RequestHandler {
    /// An app where an email address or an identity alone makes an account.
    package nonisolated static let free = "pk_free"
    /// An app without any method of auth's.
    package nonisolated static let closed = "pk_closed"

    /// The number of requests so far.
    package private(set) var asked = 0

    package nonisolated init() {}

    package func handle(_ request: GetSignInRules, context: RequestContext) async throws -> SignInRules {
        asked += 1
        if let entry = request.entry, entry != "spring" { throw BusError(.entryUnknown, "There is no such entry.") }
        let all = ["phone_code", "email_code", "google", "apple"]
        switch request.app {
        case nil: return SignInRules(methods: all, phone: "required")
        case Self.free: return SignInRules(methods: all, phone: "optional")
        case Self.closed: return SignInRules(methods: ["passkey"], phone: "none")
        default: throw BusError(.appUnknown, "There is no such app.")
        }
    }
}
