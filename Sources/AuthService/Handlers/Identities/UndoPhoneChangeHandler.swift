import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Gives an account its old number back, or takes its first one off. It removes the identities, email address, sessions and
/// devices that were added since 72 hours before the change, except the device that asks.
struct UndoPhoneChangeHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let bearer: BearerChecker
    let secrets: Secrets
    let checker: ChallengeChecker
    let apple: AppleTokens
    let notifier: PersonNotifier

    func handle(_ request: UndoPhoneChange, context: RequestContext) async throws -> PhoneChanged {
        let shown = try shown(in: request)
        let actor = request.device == nil ? try bearer.actor(of: context) : nil
        return try await inbox.once(context) { transaction in
            // The person is found before the code is checked, since the person is locked before the phone. The result
            // is used only after the check, so that a wrong code reveals nothing about the number.
            let proof = try await proof(shown, in: transaction)
            var person: Identifier?
            if let proof { person = try await PhoneChangeUndoStore.person(by: proof, in: transaction) }
            if let person { Erasure.wait(for: person, in: transaction) }
            if case .code(let id, let code) = shown {
                if case .refused(let error) = try await checker.check(
                    id, code, purpose: .undoPhoneChange, .emailUndo, in: transaction)
                {
                    return .refusal(error)
                }
            }
            guard let proof, let person else { throw Self.nothingToUndo }
            AccountStore.lock(person, in: transaction)
            guard let number = try await PhoneChangeUndoStore.locked(of: person, by: proof, in: transaction) else {
                throw Self.nothingToUndo
            }
            let device = try await device(of: request, actor, person, number, in: transaction)
            return .reply(try await undo(number, of: person, on: device, in: transaction))
        }
    }

    private enum Shown {
        case token(String)
        case code(challenge: Identifier, String)
    }

    /// `nil` if there is no such challenge or its contact was erased.
    @Loop private func proof(_ shown: Shown, in transaction: Transaction) async throws -> PhoneChangeUndoStore.Proof? {
        switch shown {
        case .token(let token): return .token(secrets.hash(of: token))
        case .code(let challenge, _):
            if let email = try await ChallengeStore.contact(of: challenge, for: .emailUndo, in: transaction) {
                return .address(try secrets.emails.hashes(ofSealed: email, for: challenge))
            }
            return try await ChallengeStore.contact(of: challenge, for: .undoPhoneChange, in: transaction).map {
                .number(try secrets.hashes(ofSealed: $0, for: challenge))
            }
        }
    }

    private func shown(in request: UndoPhoneChange) throws(BusError) -> Shown {
        switch (request.disputeToken, request.challengeId, request.code) {
        case (let token?, nil, nil): return .token(token)
        case (nil, let challenge?, let code?): return .code(challenge: challenge, code)
        default:
            throw BusError(
                .validationFailed, "Some members of the request are missing or wrong.",
                errors: [
                    .init(
                        field: "disputeToken", code: "required",
                        message: "Either this is needed, or a challenge with its code.")
                ])
        }
    }

    /// The device that asks for the undo. When the number was changed, the account must have known it for 72 hours.
    @Loop private func device(
        of request: UndoPhoneChange, _ actor: Actor?, _ person: Identifier, _ number: PhoneChangeUndo,
        in transaction: Transaction
    ) async throws -> Identifier {
        if let claim = request.device {
            let known = try await PhoneChangeUndoStore.secret(of: claim.id, of: person, number, in: transaction)
            guard let known, constantTimeEqual(known, secrets.hash(of: claim.secret)) else { throw Self.unknownDevice }
            return claim.id
        }
        guard let actor, actor.userID == person,
            let device = try await PhoneChangeUndoStore.device(of: actor, number, in: transaction)
        else { throw Self.unknownDevice }
        return device
    }

    @Loop private func undo(
        _ number: PhoneChangeUndo, of person: Identifier, on device: Identifier, in transaction: Transaction
    ) async throws -> PhoneChanged {
        // A recovery that began after the change does not block the undo, unless it moved the account. Otherwise a
        // thief could begin one until the time for the undo is over.
        try await AccountChangeGuard.mustNotBeFrozen(person, before: number.at, in: transaction)
        let masked = try await restore(number, of: person, in: transaction)
        let since = number.doubtedSince
        for identity in try await IdentityStore.list(of: person, in: transaction) where identity.linkedAt >= since {
            try await apple.revoke(identity, in: transaction)
            IdentityStore.remove(identity.hash, in: transaction)
        }
        if let email = try await EmailStore.email(of: person, in: transaction), email.linkedAt >= since {
            EmailStore.remove(of: person, in: transaction)
        }
        let chain = try await audit.chain(of: person, in: transaction)
        SessionStore.revokeAll(
            of: person, since: since, by: number.changedBy, butOn: device, chain: chain, in: transaction)
        DeviceStore.removeAll(of: person, since: since, but: device, in: transaction)
        // If a younger device removed this one, that is undone too.
        DeviceStore.restore(device, in: transaction)
        audit.note(
            AuditAct("phone_change_undone", ["device": device.description]), on: chain, in: transaction)
        try await notifier.notify(person, .phoneChangeUndone, masked.map { ["phone": $0] } ?? [:], in: transaction)
        return PhoneChanged(maskedPhone: masked ?? "none")
    }

    /// - Returns: the previous number, masked; `nil` if there was none.
    @Loop private func restore(
        _ change: PhoneChangeUndo, of person: Identifier, in transaction: Transaction
    ) async throws -> String? {
        guard let sealed = change.sealed else {
            PhoneChangeUndoStore.takeOff(change, from: person, in: transaction)
            return nil
        }
        let text = try secrets.phoneSealer.open(sealed, associated: person.array)
        let phone = secrets.hashes(of: text)
        guard try await PhoneStore.owner(of: phone, in: transaction) == nil else { throw ChangePhoneHandler.inUse }
        PhoneChangeUndoStore.restore(sealed, phone, changed: change.at, to: person, in: transaction)
        return PhoneNumber(String(decoding: text, as: UTF8.self))?.masked ?? "another number"
    }

    private static let nothingToUndo = BusError(.notFound, "There is no change of this number that can be taken back.")
    private static let unknownDevice = BusError(
        .forbidden, "This takes a device that your account knew before its number was changed.")
}
