import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import Languages
import ServiceRuntime

/// Sends a code to a phone or an email address, within the limits of both.
struct CodeSender: Sendable {
    let inbox: Inbox
    let outbox: Outbox
    let secrets: Secrets
    let limits: ChallengeLimits
    let text: CodeText
    let acts: ChallengePurposeResolver
    private let prefixes = PrefixBreakerStore()

    /// - Parameters:
    ///   - device: how a known device proves itself.
    ///   - replaced: a challenge that the caller gives up.
    ///   - act: returns what the code is for. It is called after the limits are checked, in the transaction.
    ///   - reply: the answer with the id of the challenge.
    @Loop func send<Reply: BusReply>(
        to contact: Contact, by device: SendOTP.Proof?, replacing replaced: Identifier?, _ context: RequestContext,
        act: @escaping @Loop @Sendable (Transaction) async throws -> ChallengeAct,
        reply: @escaping @Sendable (Identifier) -> Reply
    ) async throws -> Reply {
        let (keys, hashes) = (secrets.keys(of: contact.kind), secrets.hashes(of: contact))
        let (hash, mailbox) = (hashes.lasting, secrets.mailboxHash(of: contact))
        let (country, prefix) = destination(of: contact)
        let origin = ClientOrigin(context.clientAddress, hash: secrets.addressHash)
        let proof = device.map {
            ChallengeStore.Proof(device: $0.id, secretHash: secrets.hash(of: $0.secret))
        }
        return try await inbox.once(context) { transaction in
            let (principal, history) = try await ChallengeStore.history(
                contact: hashes, limit: secrets.limitHash.code(for: hash), mailbox: mailbox, prefix: prefix,
                country: country, origin: origin, proof: proof, in: transaction)
            try refuse(ChallengePolicy.send(history, limits), stranger: !history.isKnownDevice)
            let act = try await act(transaction)
            let (id, code) = (Identifier.ordered(), RandomBytes.digits(Int(ChallengeLimits.codeLength)))
            ChallengeStore.insert(
                id, contact: hash, contactSealed: keys.seal(Array(contact.text.utf8), for: id),
                purpose: act.purpose, principal: principal, origin: origin,
                prefix: history.isKnownDevice ? nil : prefix, mailbox: mailbox,
                code: secrets.hash(ofCode: code, challenge: id, contact: hash), lifetime: limits.lifetime,
                in: transaction)
            acts.bind(id, to: act, in: transaction)
            if let replaced {
                ChallengeStore.replace(replaced, address: origin.address, proof: proof, in: transaction)
            }
            if let prefix, let numbers = limits.perPrefixHour, !history.isKnownDevice {
                prefixes.close(prefix, from: numbers, in: transaction)
            }
            let message = message(to: contact, code, act, challenge: id, .named(context.language))
            outbox.enqueue(contact.kind.destination, payload: try WireJSON.encode(message), in: transaction)
            // Last, since other sends may wait for its rows until the transaction ends.
            SMSBudgetStore.take(country: country, in: transaction)
            return .reply(reply(id))
        }
    }

    /// The country and the hash of the prefix of a number. An address has neither: an email costs nothing.
    private func destination(of contact: Contact) -> (country: String?, prefix: [UInt8]?) {
        guard case .phone(let number) = contact else { return (nil, nil) }
        return (number.region, secrets.prefixHash.code(for: number.destinationPrefix))
    }

    private func message(
        to contact: Contact, _ code: String, _ act: ChallengeAct, challenge: Identifier, _ language: Language
    ) -> ContactMessage {
        switch contact.kind {
        case .phone:
            return ContactMessage(challengeID: challenge, to: contact.text, body: text.sms(code, act, in: language))
        case .email:
            let (subject, body) = text.email(code, act, in: language)
            return ContactMessage(challengeID: challenge, to: contact.text, subject: subject, body: body)
        }
    }

    private func refuse(_ decision: ChallengePolicy.SendDecision, stranger: Bool) throws(BusError) {
        switch decision {
        case .allow: return
        case .wait(let seconds):
            throw BusError(
                .rateLimited, "Please wait \(seconds.counted("second")) before retrying", retryAfter: .seconds(seconds),
                details: stranger ? ChallengePolicy.alternatives : nil)
        case .locked(let seconds):
            throw ChallengeChecker.locked(for: seconds, stranger: stranger)
        }
    }
}
