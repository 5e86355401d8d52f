import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

struct SendOTPHandler: RequestHandler {
    let inbox: Inbox
    let outbox: Outbox
    let secrets: Secrets
    let limits: ChallengeLimits
    let phones: PhonePolicy
    let appName: String
    let sms: SMSSender
    let acts: ChallengePurposeResolver

    func handle(_ request: SendOTP, context: RequestContext) async throws -> OTPSent {
        let phone = try phones.number(request.phone)
        try sms.refuseWhileDown()
        let hashes = secrets.hashes(of: phone)
        let hash = hashes.lasting
        let prefix = secrets.prefixHash.code(for: phone.destinationPrefix)
        let origin = ClientOrigin(context.clientAddress, hash: secrets.addressHash)
        let proof = request.device.map {
            ChallengeStore.Proof(device: $0.id, secretHash: secrets.hash(of: $0.secret))
        }
        return try await inbox.once(context) { transaction in
            let (principal, history) = try await ChallengeStore.history(
                phone: hashes, limit: secrets.limitHash.code(for: hash), prefix: prefix, country: phone.region,
                origin: origin, proof: proof, in: transaction)
            try refuse(ChallengePolicy.send(history, limits), stranger: !history.isKnownDevice)
            let act = try await acts.act(of: request, context, in: transaction)
            let (id, code) = (Identifier.ordered(), RandomBytes.digits(Int(ChallengeLimits.codeLength)))
            ChallengeStore.insert(
                id, phone: hash, phoneSealed: secrets.phoneSealer.seal(Array(phone.e164.utf8), associated: id.array),
                purpose: act.purpose, principal: principal, origin: origin,
                prefix: history.isKnownDevice ? nil : prefix,
                code: secrets.hash(ofCode: code, challenge: id, phone: hash), lifetime: limits.lifetime, in: transaction
            )
            acts.bind(id, to: act, in: transaction)
            SMSBudgetStore.take(country: phone.region, in: transaction)
            if let old = request.replaces {
                ChallengeStore.replace(old, address: origin.address, proof: proof, in: transaction)
            }
            if let numbers = limits.perPrefixHour, !history.isKnownDevice {
                ChallengeStore.closePrefix(prefix, from: numbers, in: transaction)
            }
            let message = SMSMessage(challengeID: id, to: phone.e164, body: text(code: code, act: act))
            outbox.enqueue("sms", payload: try WireJSON.encode(message), in: transaction)
            return .reply(
                OTPSent(
                    challengeId: id, expiresInSeconds: limits.lifetime, resendAfterSeconds: limits.resendAfter,
                    codeLength: ChallengeLimits.codeLength, maskedPhone: phone.masked))
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

    private func text(code: String, act: ChallengeAct) -> String {
        // Rounded down, so that the text never promises more time than the code has.
        let (minutes, seconds) = (limits.lifetime / 60, limits.lifetime)
        let life = minutes == 0 ? "\(seconds) seconds" : minutes == 1 ? "a minute" : "\(minutes) minutes"
        return "\(code) is your \(appName) code \(act.words). It is valid for \(life). Never share it."
    }
}
