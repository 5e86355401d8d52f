import BusProtocol
import Languages

/// The ways in which a person may sign in to an app, by the app's plan.
struct SignInPolicy: Sendable, Equatable {
    private let methods: Set<String>
    /// Whether an account must have a phone before it is opened.
    let requiresPhone: Bool

    init(_ rules: SignInRules) {
        methods = Set(rules.methods)
        // A value that only a newer release of profile knows counts as the strictest.
        requiresPhone = !["optional", "none"].contains(rules.phone)
    }

    /// The policy of the default app from before plans were data. It counts until profile has answered once, because
    /// the previous release of profile does not know the question.
    static let beforePlans = SignInPolicy(
        SignInRules(methods: ["phone_code", "google", "apple"], phone: "required"))

    func allows(_ method: SignInMethod) -> Bool { methods.contains(method.planName) }

    /// - Throws: ``BusError`` `method_not_available`.
    func mustAllow(_ method: SignInMethod) throws(BusError) {
        guard allows(method) else { throw Self.notOffered(method) }
    }

    static func notOffered(_ method: SignInMethod) -> BusError {
        let detail: Sentence = "Signing in with \(method.title) is not offered here. Please choose another way."
        return BusError(.methodNotAvailable, detail.english)
    }
}
