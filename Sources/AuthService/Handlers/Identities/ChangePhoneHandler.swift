import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import Languages
import ServiceRuntime

/// Changes an account's number to one that a challenge of the same session verified.
struct ChangePhoneHandler: RequestHandler {
    let inbox: Inbox
    let outbox: Outbox
    let audit: AuditTrail
    let bearer: BearerChecker
    let secrets: Secrets
    let checker: ChallengeChecker
    let notifier: PersonNotifier

    func handle(_ request: ChangePhone, context: RequestContext) async throws -> PhoneChanged {
        let actor = try bearer.actor(of: context)
        return try await inbox.once(context) { transaction in
            // A challenge of another session is refused as expired. So a session cannot learn about it or use up its
            // tries.
            guard try await LinkStore.isOf(actor.sessionID, request.challengeId, in: transaction) else {
                throw ChallengeChecker.expired
            }
            switch try await checker.check(
                request.challengeId, request.code, purpose: .changePhone, in: transaction)
            {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge):
                return .reply(try await change(actor, to: challenge, in: transaction))
            }
        }
    }

    @Loop private func change(
        _ actor: Actor, to challenge: Challenge, in transaction: Transaction
    ) async throws -> PhoneChanged {
        let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
        try permission.mustBeFresh(to: Sentence("change your number"))
        try permission.mustNotBeFrozen()
        let number = try secrets.contact(of: challenge)
        let masked = PhoneNumber(String(decoding: number, as: UTF8.self))?.masked ?? "another number"
        let answer = PhoneChanged(maskedPhone: masked)
        let phone = secrets.hashes(of: number)
        if let owner = try await PhoneStore.owner(of: phone, in: transaction) {
            guard owner == actor.userID else { throw Self.inUse }
            return answer
        }
        let former = try await PhoneStore.phone(of: actor.userID, in: transaction)
        if let sealed = former {
            let old = try secrets.phoneSealer.open(sealed, associated: actor.userID.array)
            let token = SecretToken.make(prefix: "dt")
            PhoneStore.keepAlias(
                secrets.hashes(of: old), of: actor.userID, by: actor.sessionID, token: secrets.hash(of: token),
                in: transaction)
            try await sendUndo(old, token, of: actor.userID, in: transaction)
        }
        PhoneStore.move(
            actor.userID, to: phone, sealed: secrets.phoneSealer.seal(number, associated: actor.userID.array),
            in: transaction)
        let chain = try await audit.chain(of: actor.userID, in: transaction)
        try await RoleLoss.phoneChanged.dropRole(of: actor.userID, chain, audit, in: transaction)
        audit.note(
            AuditAct("phone_changed", ["session": actor.sessionID.description]), on: chain, in: transaction)
        // The device that made the change is notified too: a stolen access token belongs to the owner's device.
        if former == nil {
            try await notifier.notify(
                ofFirstNumber: masked, of: actor.userID, by: actor.sessionID, in: transaction)
        } else {
            try await notifier.notify(actor.userID, .phoneChanged, ["phone": masked], in: transaction)
        }
        return answer
    }

    @Loop private func sendUndo(
        _ number: [UInt8], _ token: String, of person: Identifier, in transaction: Transaction
    ) async throws {
        let language = try await DeviceStore.language(of: person, in: transaction)
        let message = ContactMessage(
            challengeID: nil, to: String(decoding: number, as: UTF8.self),
            body: NotificationText.undo(token: token, appName: notifier.appName).text(in: language))
        outbox.enqueue("sms", payload: try WireJSON.encode(message), in: transaction)
    }

    static let inUse = BusError(.phoneInUse, "This number is already in use. Recover your account?")
}
