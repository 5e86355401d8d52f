import BusProtocol
import BusRuntime
import EventLoop

struct GetAuthMethodsHandler: RequestHandler {
    let methods: AuthMethods

    init(phones: PhonePolicy, limits: ChallengeLimits, sendsEmails: Bool, providers: [IdentityProviderName]) {
        let phone = AuthMethod(
            key: "phone", proof: "code", codeLength: ChallengeLimits.codeLength, expiresInSeconds: limits.lifetime,
            resendAfterSeconds: limits.resendAfter, countries: phones.regions)
        let email = AuthMethod(
            key: "email", proof: "code", codeLength: ChallengeLimits.codeLength, expiresInSeconds: limits.lifetime,
            resendAfterSeconds: limits.resendAfter)
        methods = AuthMethods(
            methods: [phone] + (sendsEmails ? [email] : []) + providers.map { AuthMethod(key: $0.rawValue, proof: "identity_token") })
    }

    func handle(_ request: GetAuthMethods, context: RequestContext) async throws -> AuthMethods { methods }
}
