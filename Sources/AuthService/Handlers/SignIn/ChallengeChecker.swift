import BusProtocol
import Cryptography
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Checks a code against its challenge, and counts wrong codes.
struct ChallengeChecker: Sendable {
    let audit: AuditTrail
    let secrets: Secrets
    let limits: ChallengeLimits

    enum Result: Sendable {
        case passed(Challenge)
        /// The transaction must be committed, since the wrong try was counted in it.
        case refused(BusError)
    }

    /// - Parameter purposes: the challenge must have one of them.
    @Loop func check(
        _ id: Identifier, _ code: String, purpose purposes: ChallengePurpose..., in transaction: Transaction
    ) async throws -> Result {
        guard let challenge = try await ChallengeStore.locked(id, in: transaction), let purpose = challenge.purpose
        else {
            throw Self.expired
        }
        guard purposes.contains(purpose) else { throw Self.sent(for: purpose, not: purposes[0]) }
        let hash = secrets.hash(ofCode: code, challenge: id, contact: challenge.contactHash)
        let verdict = ChallengePolicy.verdict(
            state: challenge.state, wrongTries: challenge.wrongTries,
            phoneTriesLeft: limits.wrongPerDay - challenge.wrongInDay, expiresAt: challenge.expiresAt,
            now: challenge.now, isRight: constantTimeEqual(hash, challenge.codeHash))
        switch verdict {
        case .right:
            ChallengeStore.use(id, in: transaction)
            return .passed(challenge)
        case .expired: throw Self.expired(as: challenge.state)
        case .wrong(let left):
            ChallengeStore.countWrong(id, isDead: false, in: transaction)
            return .refused(
                BusError(
                    .otpInvalid, "Code incorrect. \(left.counted("attempt")) remaining", executed: .yes,
                    details: ["attemptsRemaining": .integer(left)]))
        case .dead:
            guard challenge.state == .open else {
                throw Self.locked(for: limits.lock, stranger: challenge.isOfStranger)
            }
            ChallengeStore.countWrong(id, isDead: true, in: transaction)
            ChallengeStore.lockOut(challenge, for: limits.lock, in: transaction)
            let holder = try await AccountStore.holder(
                challenge.contact, try secrets.hashes(of: challenge), in: transaction)
            let chain =
                if let holder { try await audit.chain(of: holder, in: transaction) } else { AuditChain.service }
            audit.note(
                AuditAct("code_locked", ["challenge": id.description, "purpose": purpose.rawValue]), on: chain,
                in: transaction)
            return .refused(Self.locked(for: limits.lock, stranger: challenge.isOfStranger, executed: .yes))
        case .spent:
            throw Self.locked(
                for: challenge.wrongFreeAt.map { ChallengePolicy.seconds(from: challenge.now, to: $0) } ?? limits.lock,
                stranger: challenge.isOfStranger)
        }
    }

    static let expired = BusError(.otpExpired, "Code expired. Request a new one.")

    /// - Parameter state: the state of the challenge.
    private static func expired(as state: ChallengeState?) -> BusError {
        var error = expired
        switch state {
        case .used:
            let message = "This code was used. A request with the same Idempotency-Key gets the same answer again."
            error.errors = [.init(field: "challengeId", code: "used", message: message)]
        case .superseded:
            let message = "A newer code was sent. Use that one."
            error.errors = [.init(field: "challengeId", code: "superseded", message: message)]
        default: break
        }
        return error
    }

    /// It may name the purpose of the challenge, since only the caller who requested it has its id.
    private static func sent(for actual: ChallengePurpose, not wanted: ChallengePurpose) -> BusError {
        let message = "Its purpose is \(actual.rawValue). Send a code with purpose \(wanted.rawValue)."
        let detail: Sentence = "This code was sent \(actual.words). Request a new one \(wanted.words)."
        return BusError(
            .otpExpired, detail.english,
            errors: [.init(field: "challengeId", code: "wrong_purpose", message: message)])
    }

    /// - Parameters:
    ///   - seconds: the time until a code may be tried again.
    ///   - stranger: whether the caller is not a device of the account.
    static func locked(for seconds: Int64, stranger: Bool, executed: Executed = .no) -> BusError {
        BusError(
            .otpLocked, "Too many attempts. Try again in \(((seconds + 59) / 60).counted("minute")).",
            executed: executed,
            retryAfter: .seconds(seconds), details: stranger ? ChallengePolicy.alternatives : nil)
    }
}
