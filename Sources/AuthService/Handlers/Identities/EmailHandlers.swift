import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Links a verified email address to an account.
struct EmailLinker: Sendable {
    let audit: AuditTrail
    let secrets: Secrets
    let notifier: PersonNotifier

    /// - Parameters:
    ///   - address: in normalised form, as UTF-8.
    ///   - actor: its account is locked.
    ///   - device: the device that is not notified; `nil` notifies all.
    /// - Returns: the masked address.
    /// - Throws: ``BusError`` `identity_in_use`, `provider_already_linked`.
    @Loop @discardableResult func link(
        _ address: [UInt8], to actor: Actor, except device: Identifier?, in transaction: Transaction
    ) async throws -> String {
        let hashes = secrets.emails.hashes(of: address)
        let masked = EmailAddress(String(decoding: address, as: UTF8.self))?.masked ?? "another address"
        // Waits for a sign-up with the address that is under way.
        AccountStore.lock(lasting: hashes.lasting, in: transaction)
        if let owner = try await EmailStore.owner(of: hashes, in: transaction) {
            guard owner == actor.userID else { throw BusError.emailInUse }
            return masked
        }
        guard try await EmailStore.email(of: actor.userID, in: transaction) == nil else {
            throw BusError(.providerAlreadyLinked, "Another email address is linked to yours. Unlink it first.")
        }
        EmailStore.insert(
            hashes, of: actor.userID, sealed: secrets.emails.seal(address, for: actor.userID), in: transaction)
        let chain = try await audit.chain(of: actor.userID, in: transaction)
        audit.note(AuditAct("email_linked", ["session": actor.sessionID.description]), on: chain, in: transaction)
        try await notifier.notify(
            actor.userID, .identityLinked, ["provider": "email", "email": masked], except: device, in: transaction)
        return masked
    }
}

extension BusError {
    static var emailInUse: BusError { BusError(.identityInUse, "This email address opens another account.") }
}

extension Secrets {
    /// The address of a link.
    func email(of link: PendingLink) throws(SealError) -> String {
        String(decoding: try emails.sealer.open(link.sealed, associated: link.identity), as: UTF8.self)
    }
}

/// Links an email address that a challenge of the same session verified.
struct LinkEmailHandler: RequestHandler {
    let inbox: Inbox
    let bearer: BearerChecker
    let secrets: Secrets
    let checker: ChallengeChecker
    let linker: EmailLinker

    func handle(_ request: LinkEmail, context: RequestContext) async throws -> EmailLinked {
        let actor = try bearer.actor(of: context)
        return try await inbox.once(context) { transaction in
            // A challenge of another session is refused as expired. So a session cannot learn about it or use up its
            // tries.
            guard try await LinkStore.isOf(actor.sessionID, request.challengeId, in: transaction) else {
                throw ChallengeChecker.expired
            }
            switch try await checker.check(request.challengeId, request.code, purpose: .linkEmail, in: transaction) {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge): return .reply(try await link(challenge, to: actor, in: transaction))
            }
        }
    }

    @Loop private func link(
        _ challenge: Challenge, to actor: Actor, in transaction: Transaction
    ) async throws -> EmailLinked {
        // Before the account, as a deletion locks them.
        AccountStore.lock(lasting: challenge.contactHash, in: transaction)
        let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
        try permission.mustBeFresh(to: Sentence("link your email address"))
        try permission.mustNotBeFrozen()
        // The device that made the change is notified too: a stolen access token belongs to the owner's device.
        let masked = try await linker.link(
            try secrets.contact(of: challenge), to: actor, except: nil, in: transaction)
        return EmailLinked(maskedEmail: masked)
    }
}

struct UnlinkEmailHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let notifier: PersonNotifier

    func handle(_ request: UnlinkEmail, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await database.transaction { transaction in
            let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
            try permission.mustBeFresh(to: Sentence("unlink your email address"))
            try permission.mustNotBeFrozen()
            guard let email = try await EmailStore.email(of: actor.userID, in: transaction) else { return NoContent() }
            if let wait = email.guardsFor {
                throw BusError(
                    .accountFrozen,
                    "Your account got its first number lately. Please unlink your email address later.",
                    retryAfter: wait)
            }
            guard try await SignInMethods.count(of: actor.userID, in: transaction) > 1 else {
                throw BusError(
                    .lastWayIn, "Your email address is the only way into your account. Add a phone number first.")
            }
            EmailStore.remove(of: actor.userID, in: transaction)
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            SessionStore.revokeAllByEmail(of: actor.userID, chain: chain, in: transaction)
            audit.note(
                AuditAct("email_unlinked", ["session": actor.sessionID.description]), on: chain, in: transaction)
            try await notifier.notify(actor.userID, .identityUnlinked, ["provider": "email"], in: transaction)
            return NoContent()
        }
    }
}
