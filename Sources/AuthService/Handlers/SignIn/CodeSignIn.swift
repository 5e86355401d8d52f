import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Signs in with a code that came by SMS or email. A phone or an address without an account gets one. If the app
/// requires a phone and the address's account has none, the reply is a link token instead. The client then verifies a
/// phone with that token.
struct CodeSignIn: Sendable {
    let inbox: Inbox
    let outbox: Outbox
    let checker: ChallengeChecker
    let opener: SessionOpener
    let linker: IdentityLinker
    let dormant: DormantNumber
    let rules: SignInRulesReader

    /// The values that a client presents to sign in.
    struct Presented: Sendable {
        let challenge: Identifier
        let code: String
        /// The purpose that the challenge must have.
        let purpose: ChallengePurpose
        let device: DeviceClaim
        /// The person confirms the link of the challenge's identity.
        var confirmsLink = false
        /// The person says that the number's dormant account is not theirs.
        var wantsNewAccount = false
        /// The client's own name for the visitor.
        var visitor: String?
        /// The publishable key of the app; `nil` for the default app.
        var app: String?
        /// How the person came to the app.
        var entry: String?
    }

    @Loop func signIn(_ presented: Presented, _ context: RequestContext) async throws -> SocialSignedIn {
        // Asked before the code is checked, so that a refusal leaves the code as it is.
        let policy = try await rules.policy(app: presented.app, entry: presented.entry, context)
        try policy.mustAllow(presented.purpose == .emailLogin ? .emailCode : .phoneCode)
        let answer: SocialSignedIn = try await inbox.once(context, carriesToken: true) { transaction in
            let holder = try await dormant.holder(of: presented.challenge, in: transaction)
            switch try await checker.check(
                presented.challenge, presented.code, purpose: presented.purpose, in: transaction)
            {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge):
                try await dormant.resolve(
                    challenge, of: holder, presented.device, wantsNewAccount: presented.wantsNewAccount,
                    in: transaction)
                if policy.requiresPhone, let wanted = try await linkOfEmail(challenge, in: transaction) {
                    return .reply(.phoneVerificationRequired(wanted))
                }
                let session = try await open(challenge, presented, language: context.language, in: transaction)
                if let visitor = presented.visitor {
                    try await outbox.publish(
                        VisitorIdentified(personID: session.user.id, anonymousID: visitor), in: transaction)
                }
                return .reply(.session(session))
            }
        }
        guard case .session(var session) = answer else { return answer }
        // Asked outside the transaction, so that no lock waits for profile. A repeated request gets the present status.
        session.user.onboardingStatus = await opener.onboardingStatus(
            of: session, entry: presented.entry, context)
        return .session(session)
    }

    @Loop private func open(
        _ challenge: Challenge, _ presented: Presented, language: String?, in transaction: Transaction
    ) async throws -> Session {
        guard let link = try await linker.pending(challenge, in: transaction) else {
            return try await opener.signIn(
                challenge, presented.device, app: presented.app, language: language, in: transaction)
        }
        if let account = try await linker.waiting(for: link, in: transaction) {
            let changed = try await linker.addPhone(of: challenge, to: account, for: link, in: transaction)
            let session = try await opener.open(
                changed, presented.device, by: .phoneCode, app: presented.app, language: language,
                now: challenge.now, in: transaction)
            let number = challenge.contact.masked(try linker.secrets.contact(of: challenge))
            try await linker.notifier.notify(
                ofFirstNumber: number, of: account.id, by: session.sessionId, in: transaction)
            return session
        }
        try await linker.dropRole(ofHolderOf: challenge, for: link, in: transaction)
        let session = try await opener.signIn(
            challenge, presented.device, app: presented.app, language: language, in: transaction)
        try await linker.make(link, for: session, isConfirmed: presented.confirmsLink, in: transaction)
        return session
    }

    /// A link token for the address of a challenge, unless its account has a phone; `nil` for a challenge to a phone.
    @Loop private func linkOfEmail(
        _ challenge: Challenge, in transaction: Transaction
    ) async throws -> SocialSignedIn.PhoneVerificationRequired? {
        guard challenge.contact == .email else { return nil }
        let secrets = linker.secrets
        let address = try secrets.contact(of: challenge)
        let hashes = secrets.emails.hashes(of: address)
        let account = try await Account(
            AccountStore.known(.email, hashes, in: transaction), audit: linker.audit, in: transaction)
        if let account, try await PhoneStore.phone(of: account.id, in: transaction) != nil { return nil }
        let token = SecretToken.make(prefix: "lk")
        LinkStore.insert(
            secrets.hash(of: token), identity: hashes.lasting,
            sealed: secrets.emails.sealer.seal(address, associated: hashes.lasting), isEmail: true,
            seconds: SocialSignIn.linkLifetime, in: transaction)
        return .init(linkToken: token, expiresInSeconds: SocialSignIn.linkLifetime)
    }
}
