import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Promises uploads of pictures to both sides of a case. Verification keeps the pictures.
struct PicturePromiser: Sendable {
    let database: Database
    let inbox: Inbox
    let bus: Bus
    let cases: CaseWorkflow

    /// - Parameters:
    ///   - code: the claimant's new code; `nil` without one. It is not used up if the caller may send no picture.
    ///   - admit: returns the case, or throws why the caller may send no picture. The promiser calls it again under the
    ///     case's lock.
    @Loop func promise(
        _ picture: PromiseEvidence, for side: CaseActor, _ context: RequestContext,
        code: NewCode? = nil, admit: @Loop (RecoveryCase?, _ isProven: Bool) throws -> RecoveryCase
    ) async throws -> UploadCreated {
        guard try await !inbox.refuseReuse(context.inboxRequest) else {
            return try await inbox.once(context, carriesToken: true) { _ in throw DatabaseError.aborted }
        }
        let found = try await CaseStore.find(picture.caseID, in: database)
        let known = try admit(found, code != nil || found?.isProven == true)
        // Check the limits here too. So a picture beyond them uses up no code, and verification promises nothing.
        try Self.judge(try await PictureStore.usage(side, of: known.id, in: database))
        let provenAt: Timestamp? = if let code { try await prove(picture.caseID, code, context) } else { nil }
        let provenUntil = provenAt.map { $0 + PicturePolicy.freshness }
        // The call comes before the case is locked, since no lock may wait for another service. A promise that is never
        // used ends by itself.
        let promised = try await bus.call(
            picture, CallOptions(timeout: context.remaining, trace: context.trace.child()))
        return try await inbox.once(context, carriesToken: true) { transaction in
            let locked = try await CaseStore.locked(picture.caseID, in: transaction)
            var isProven = locked?.isProven == true
            if let locked, let provenUntil { isProven = isProven || provenUntil > locked.now }
            let record = try admit(locked, isProven)
            if let provenUntil { PictureStore.keepProof(until: provenUntil, of: record.id, in: transaction) }
            try Self.judge(try await PictureStore.count(side, of: record.id, in: transaction))
            cases.note("picture_promised", by: side, record.life, of: record, in: transaction)
            // The case may have ended before the promise was made. In a decoy, nobody shall see a picture.
            if record.life.isDecidedByClock {
                try await cases.outbox.publish(EvidenceEnded(personID: record.id), in: transaction)
            }
            return .reply(
                UploadCreated(
                    mediaId: picture.mediaID, uploadUrl: promised.uploadURL, expiresAt: promised.expiresAt))
        }
    }

    private static func judge(_ usage: PictureStore.Usage?) throws {
        guard let usage else { return }
        do throws(PicturePolicy.Refusal) {
            try PicturePolicy.count(all: usage.all, today: usage.today)
        } catch {
            throw PictureError.refusal(error, untilTomorrow: usage.untilTomorrow)
        }
    }

    /// A code that a claimant received, with its challenge.
    struct NewCode: Sendable {
        let challenge: Identifier
        let code: String
    }

    /// Lets auth use up the code. A repetition of the same request gets auth's first answer, with its time.
    @Loop private func prove(
        _ recovery: Identifier, _ code: NewCode, _ context: RequestContext
    ) async throws -> Timestamp {
        let asked = context.inboxRequest.map { "\($0.scope)\n\($0.key)\n\(code.challenge)\n\(code.code)" }
        let attempt = asked.map { Identifier.derived(from: cases.secrets.hash(of: $0)) }
        return try await bus.call(
            CheckClaimant(caseID: recovery, challengeID: code.challenge, code: code.code),
            CallOptions(
                timeout: context.remaining, trace: context.trace.child(),
                idempotencyKey: "recovery-claimant-\(attempt ?? .random())")
        ).at
    }
}

struct AddClaimantPictureHandler: RequestHandler {
    let pictures: PicturePromiser

    func handle(_ request: AddClaimantPicture, context: RequestContext) async throws -> UploadCreated {
        let cases = pictures.cases
        let picture = PromiseEvidence(
            mediaID: .random(), caseID: request.recoveryId, side: CaseActor.claimant.rawValue,
            contentType: request.contentType, length: request.length)
        let code = request.challengeId.flatMap { id in
            request.code.map { PicturePromiser.NewCode(challenge: id, code: $0) }
        }
        return try await pictures.promise(picture, for: .claimant, context, code: code) { record, isProven in
            guard let record, cases.isClaimant(request.recoveryToken, of: record) else {
                throw CaseWorkflow.notTheClaimant
            }
            do throws(PicturePolicy.Refusal) {
                try PicturePolicy.admitClaimant(seeing: record.life.seen, isProven: isProven)
                return record
            } catch {
                throw PictureError.refusal(
                    error, holdLeft: .seconds(max(1, ClaimantView.seconds(from: record.now, until: record.holdUntil))))
            }
        }
    }
}

struct AddOwnerPictureHandler: RequestHandler {
    let pictures: PicturePromiser

    func handle(_ request: AddOwnerPicture, context: RequestContext) async throws -> UploadCreated {
        let person = try context.person().userID
        let picture = PromiseEvidence(
            mediaID: .random(), caseID: request.recoveryId, side: CaseActor.owner.rawValue,
            contentType: request.contentType, length: request.length)
        return try await pictures.promise(picture, for: .owner, context) { record, _ in
            guard let record, record.accountID == person, !record.life.isDecoy else { throw CaseWorkflow.unknown }
            do throws(PicturePolicy.Refusal) {
                try PicturePolicy.admitOwner(in: record.life.status)
                return record
            } catch {
                throw PictureError.refusal(error)
            }
        }
    }
}

/// The error for a picture that is not taken.
enum PictureError {
    /// - Parameters:
    ///   - holdLeft: how long a claimant's hold still lasts; `nil` for an owner.
    ///   - untilTomorrow: the rest of the day (UTC).
    static func refusal(
        _ refusal: PicturePolicy.Refusal, holdLeft: Duration? = nil, untilTomorrow: Duration? = nil
    ) -> BusError {
        switch refusal {
        case .tooEarly where holdLeft == nil:
            BusError(.recoveryNotReady, "Nothing is asked of you. If this was not you, say no to it.")
        case .tooEarly:
            BusError(
                .recoveryNotReady, "The hold is not over yet. Please come back later.", retryAfter: holdLeft)
        case .tooLate: BusError(.recoveryClosed, "This recovery is over.")
        case .notProven:
            BusError(.reauthenticationRequired, "Please prove your number or email address with a new code first.")
        case .tooMany:
            BusError(.tooManyPictures, "You have sent as many pictures as one recovery takes.")
        case .tooManyToday:
            BusError(
                .rateLimited, "You have sent many pictures today. Please come back tomorrow.",
                retryAfter: untilTomorrow)
        }
    }
}
