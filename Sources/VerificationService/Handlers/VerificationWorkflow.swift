import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// The parts of the verification handlers that run in one transaction.
@Loop struct VerificationWorkflow {
    let store: VerificationStore
    let outbox: Outbox
    let audit: AuditTrail
    /// Captures are among the pictures that people upload.
    let photos: PhotoStore
    /// `nil` if reviewers decide alone.
    let judge: (any Judge)?
    /// Counts the judge's answers and their delays.
    var statistics: VerificationStatistics?

    /// The destination of the timers of a tier.
    nonisolated static func timer(_ tier: Tier) -> String {
        tier == .photo ? "timer:verification" : "timer:id-verification"
    }
    nonisolated static let judging = "verification-judge"

    /// Applies an event to a person's verification, with everything that follows from it.
    ///
    /// - Parameter testVerdict: the verdict that the judge of a development system shall give.
    /// - Throws: ``BusError`` if the event is refused.
    @discardableResult
    func apply(
        _ event: Verification.Event, to known: VerificationStore.Known, testVerdict: String? = nil,
        watch: DeliveryWatch? = nil, in transaction: Transaction
    ) async throws -> Verification {
        let (person, before) = (known.person, known.verification)
        var verification = before
        let effects: Set<Verification.Effect>
        do throws(Verification.Refusal) {
            effects = try verification.apply(event, at: known.now)
        } catch {
            throw Self.error(error)
        }
        guard verification != before || !effects.isEmpty else { return before }
        guard try await store.write(verification, over: known, in: transaction) else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        if let wait = verification.wait(since: before, after: event, at: known.now) {
            transaction.afterCommit { [statistics] in statistics?.count(wait) }
        }
        let tier = verification.tier
        if let due = verification.dueAt, due != before.dueAt { setTimer(of: person, tier, at: due, in: transaction) }
        var acts: [AuditAct] = []
        for effect in effects {
            switch effect {
            case .destroy(let media): photos.media.destroy(media, because: "verification_over", in: transaction)
            case .askJudge:
                guard let session = verification.session else { continue }
                let item = JudgeItem(person: person, session: session, testVerdict: testVerdict)
                outbox.enqueue(Self.judging, payload: item.payload, in: transaction)
            case .publish(let outcome):
                let decided = VerificationDecided(
                    personID: person, level: tier.rawValue, outcome: outcome.rawValue, at: known.now)
                try await outbox.publish(decided, watch: watch, in: transaction)
                if let session = verification.session {
                    acts.append(
                        AuditAct(
                            "verification_decided",
                            [
                                "outcome": outcome.rawValue, "session": session.description, "tier": tier.rawValue,
                            ]))
                }
            case .notify:
                let notice = NotifyPerson(
                    notificationID: .ordered(), personID: person, kind: NoticeKind.verificationDecided.rawValue,
                    data: ["sessionId": verification.session?.description ?? ""])
                try await outbox.publish(notice, in: transaction)
            }
        }
        if verification.session != before.session {
            acts.append(AuditAct("verification_consent_given", ["tier": tier.rawValue]))
        }
        if before.consent != nil, verification.consent == nil {
            acts.append(AuditAct("verification_consent_withdrawn", ["tier": tier.rawValue]))
        }
        guard !acts.isEmpty else { return verification }
        let chain = try await audit.ensure(person, in: transaction)
        for act in acts { audit.note(act, on: chain, in: transaction) }
        return verification
    }

    /// The person's verification with this session, locked until the transaction ends.
    ///
    /// - Throws: ``BusError`` `not_found` if the session is not the person's newest one of its tier.
    func locked(
        _ person: Identifier, of session: Identifier, in transaction: Transaction
    ) async throws -> VerificationStore.Known {
        guard let known = try await store.locked(person, of: session, in: transaction) else { throw Self.unknown }
        return known
    }

    func setTimer(of person: Identifier, _ tier: Tier, at due: Timestamp, in transaction: Transaction) {
        let payload = Array("\(person) \(due.microsecondsSinceEpoch)".utf8)
        outbox.enqueue(Self.timer(tier), payload: payload, dueAt: due, in: transaction)
    }

    /// The clock changes a verification. A timer of an earlier status changes nothing, and one that fires too early fires
    /// again: a clock may be set back.
    func clock(_ tier: Tier, _ item: OutboxItem) async throws {
        let words = String(decoding: item.payload, as: UTF8.self).split(separator: " ")
        guard let person = words.first.flatMap({ Identifier(String($0)) }), let due = words.last.flatMap({ Int64($0) })
        else { return }
        try await store.database.transaction { transaction in
            let known = try await store.locked(person, tier, in: transaction)
            guard let dueAt = known.verification.dueAt, dueAt.microsecondsSinceEpoch == due else { return }
            guard dueAt <= known.now else { throw RedeliverLater(after: dueAt - known.now) }
            try await apply(.clock, to: known, in: transaction)
        }
    }

    /// Asks the judge about a capture. A verdict on a session that is over has no effect.
    func judge(_ item: OutboxItem) async throws {
        guard let asked = JudgeItem(item.payload),
            let known = try await store.verification(of: asked.session)?.verification,
            known.status == .processing || known.status == .overdue
        else { return }
        guard let judge else { return try await take(.judgeGaveUp(asked.session), asked.person) }
        let capture = JudgedCapture(
            session: asked.session, attempt: known.tries, media: known.media, check: known.check,
            testVerdict: asked.testVerdict.flatMap { Verdict(ofPhoto: $0) })
        do {
            switch try await judge.answer(on: capture) {
            case .verdict(let verdict, let isFinal):
                try await take(.judged(asked.session, verdict, isFinal: isFinal), asked.person)
                statistics?.count(verdict)
                return
            case .captureMissing: return try await take(.captureMissing(asked.session), asked.person)
            case .later: break
            }
        } catch {
            if item.attempts >= Outbox.mostAttempts - 1 {
                return try await take(.judgeGaveUp(asked.session), asked.person)
            }
            guard let error = error as? JudgeError else { throw error }
            throw error.postponed(after: item.attempts)
        }
        throw RedeliverLater(after: known.status == .processing ? JudgeError.pause : JudgeError.longPause)
    }

    private func take(_ event: Verification.Event, _ person: Identifier) async throws {
        _ = try await store.database.transaction { transaction in
            try await apply(event, to: store.locked(person, .photo, in: transaction), in: transaction)
        }
    }

    nonisolated static let over = BusError(
        .verificationClosed, "This verification is over. Please begin a new one.")
    nonisolated static let unknown = BusError(.notFound, "There is no such session.")

    private nonisolated static func error(_ refusal: Verification.Refusal) -> BusError {
        switch refusal {
        case .unknown: return unknown
        case .over: return over
        case .tooManySessions(let wait):
            let seconds = max(1, wait.components.seconds)
            return BusError(
                .rateLimited, "You have tried this often today. Please try again tomorrow.",
                retryAfter: .seconds(seconds))
        }
    }

    /// A question to the judge, as the outbox keeps it.
    private struct JudgeItem {
        let person: Identifier
        let session: Identifier
        let testVerdict: String?

        init(person: Identifier, session: Identifier, testVerdict: String?) {
            (self.person, self.session, self.testVerdict) = (person, session, testVerdict)
        }

        init?(_ payload: [UInt8]) {
            let words = String(decoding: payload, as: UTF8.self).split(separator: " ").map(String.init)
            guard words.count >= 2, let person = Identifier(words[0]), let session = Identifier(words[1]) else {
                return nil
            }
            self.init(person: person, session: session, testVerdict: words.count > 2 ? words[2] : nil)
        }

        var payload: [UInt8] { Array("\(person) \(session) \(testVerdict ?? "")".utf8) }
    }
}
