import BusProtocol
import BusRuntime
import EventLoop

struct GetAuthMethodsHandler: RequestHandler {
    /// The ways to sign in that the operator offers.
    private let offered: [(way: SignInMethod, view: AuthMethod)]
    private let rules: SignInRulesReader

    init(
        phones: PhonePolicy, limits: ChallengeLimits, sendsEmails: Bool, providers: [IdentityProviderName],
        rules: SignInRulesReader
    ) {
        let phone = AuthMethod(
            key: "phone", proof: "code", codeLength: ChallengeLimits.codeLength, expiresInSeconds: limits.lifetime,
            resendAfterSeconds: limits.resendAfter, countries: phones.regions)
        let email = AuthMethod(
            key: "email", proof: "code", codeLength: ChallengeLimits.codeLength, expiresInSeconds: limits.lifetime,
            resendAfterSeconds: limits.resendAfter)
        offered =
            [(.phoneCode, phone)] + (sendsEmails ? [(.emailCode, email)] : [])
            + providers.map { (.identity($0), AuthMethod(key: $0.rawValue, proof: "identity_token")) }
        self.rules = rules
    }

    func handle(_ request: GetAuthMethods, context: RequestContext) async throws -> AuthMethods {
        let policy = try await rules.policy(app: request.app, entry: nil, context)
        return AuthMethods(methods: offered.filter { policy.allows($0.way) }.map(\.view))
    }
}
