import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// A session with its definition and its answer sheet.
struct LoadedQuestionnaireSession: Sendable {
    let person: Identifier
    var session: StoredQuestionnaireSession
    let published: PublishedDefinition
    /// The questions of the session with their answers.
    private(set) var sheet: AnswerSheet

    /// Requires that the session accepts writes.
    ///
    /// - Throws: ``BusError`` `session_stopped`; `version_closed` if the session's version was retired longer ago than
    ///   its policy allows for open sessions.
    func mustTakeWrites() throws(BusError) {
        if session.status == .stopped { throw .sessionStopped }
        if published.definition.policy.isDrained(retiredAt: session.retiredAt, now: session.now) {
            throw .versionClosed
        }
    }

    /// - Parameter known: the same person's session as read before. Its sheet is reused if the revision and the day are
    ///   the same.
    init(
        _ session: StoredQuestionnaireSession, of person: Identifier, _ published: PublishedDefinition,
        knowing known: LoadedQuestionnaireSession? = nil
    ) {
        (self.person, self.session, self.published) = (person, session, published)
        if let known, known.session.id == session.id, known.session.revision == session.revision,
            known.sheet.today == session.today
        {
            sheet = known.sheet
        } else {
            sheet = AnswerSheet(
                definition: published.definition, answers: session.answers, subjects: session.subjects,
                facts: session.facts, today: session.today)
        }
    }

    /// The session after one answer was written to it.
    ///
    /// - Parameter sheet: the sheet with that answer.
    func written(_ key: String, in sheet: AnswerSheet) -> LoadedQuestionnaireSession {
        var hand = self
        hand.sheet = sheet
        hand.session.answers = sheet.answers
        hand.session.answersSize += sheet.answers[key]?.size(at: key) ?? 0
        hand.session.answersSize -= session.answers[key]?.size(at: key) ?? 0
        hand.session.revision += 1
        return hand
    }
}

/// The steps that the handlers of sessions share.
@Loop struct QuestionnaireSessionService {
    let sessions: QuestionnaireSessionStore
    let definitions: PublishedDefinitions
    let offers: VersionOffers
    let inbox: Inbox
    let outbox: Outbox
    let bus: Bus
    let memory = QuestionnaireSessionMemory()

    /// Runs `body` in a transaction. If a client repeats its idempotency key, it gets the stored reply.
    ///
    /// A key that the gateway made serves only for retries between services. Most of these requests give a retry the
    /// same reply without a stored one.
    ///
    /// - Parameter keepsAll: whether replies are stored for keys of the gateway, too. It is needed if a retry would get
    ///   a different reply.
    func once<Reply: BusReply>(
        _ context: RequestContext, keepsAll: Bool = false,
        _ body: @Loop (Transaction) async throws -> Outcome<Reply>
    ) async throws -> Reply {
        let isClientKey = context.idempotencyKey?.hasPrefix(IdempotencyKey.gatewayPrefix) == false
        let (reply, isReplay) = try await inbox.once(isClientKey || keepsAll ? context.inboxRequest : nil, body)
        context.isReplay = isReplay
        return reply
    }

    /// Does the same as ``once(_:keepsAll:_:)``, then waits a moment until the events of `body` were delivered.
    func onceDelivered<Reply: BusReply>(
        _ context: RequestContext, _ body: @Loop (Transaction, DeliveryWatch) async throws -> Outcome<Reply>
    ) async throws -> Reply {
        try await delivering { watch in try await once(context) { try await body($0, watch) } }
    }

    /// Runs `body`, then waits a moment until the events that it published were delivered.
    func delivering<Value: Sendable>(_ body: @Loop (DeliveryWatch) async throws -> Value) async throws -> Value {
        try await outbox.awaitingDelivery(body)
    }

    /// Reads a session and locks it until the transaction ends.
    ///
    /// - Parameter mutations: the ids of the stored mutations to load.
    /// - Throws: ``ResponseRefusal/unknownSession``.
    func take(
        _ id: Identifier, of person: Identifier, for questionnaire: String, mutations: [Identifier] = [],
        in transaction: Transaction
    ) async throws -> LoadedQuestionnaireSession {
        guard
            let session = try await sessions.locked(
                id, of: person, for: questionnaire, mutations: mutations, in: transaction)
        else { throw ResponseRefusal.unknownSession.busError }
        return try await hand(session, of: person)
    }

    func hand(_ session: StoredQuestionnaireSession, of person: Identifier) async throws -> LoadedQuestionnaireSession {
        LoadedQuestionnaireSession(session, of: person, try await definitions.definition(session.hash))
    }

    /// The session as committed, without a lock. Another request may change it in the meantime.
    ///
    /// - Parameters:
    ///   - id: `nil` for the current session.
    ///   - mutations: the ids of the stored mutations to load.
    /// - Returns: `nil` if there is no such session.
    func look(
        _ id: Identifier?, of person: Identifier, for questionnaire: String, mutations: [Identifier] = []
    ) async throws -> LoadedQuestionnaireSession? {
        let known = memory.recall(questionnaire, of: person)
        guard
            let session = try await sessions.find(
                id, of: person, for: questionnaire, mutations: mutations, knowing: known?.session)
        else { return nil }
        let published = try await definitions.definition(session.hash)
        let hand = LoadedQuestionnaireSession(session, of: person, published, knowing: known)
        memory.remember(hand, for: questionnaire)
        return hand
    }

    /// Writes one changed answer to a session that was read without a lock, if the session is unchanged.
    ///
    /// - Parameter sheet: the sheet with that answer.
    /// - Returns: whether it was written; see ``QuestionnaireSessionStore/writeAtOnce(_:of:session:reply:)``.
    func writeAtOnce(
        _ write: ResponsePlan.Write, _ sheet: AnswerSheet, on hand: LoadedQuestionnaireSession, reply: [UInt8]
    ) async throws -> Bool {
        let isWritten = try await sessions.writeAtOnce(
            write, to: sheet.definition, of: hand.person, session: hand.session, reply: reply)
        if isWritten { memory.remember(hand.written(write.key, in: sheet), for: sheet.definition.key) }
        return isWritten
    }

    /// The sheet after a plan, and what the plan does to the status of the session.
    ///
    /// - Throws: as ``LoadedQuestionnaireSession/mustTakeWrites()``.
    func step(
        after plan: ResponsePlan, on hand: LoadedQuestionnaireSession, completes: Bool
    ) throws(BusError) -> (AnswerSheet, QuestionnaireSessionStep) {
        // A repeated request gets its earlier reply, even if the session accepts no writes any more.
        let completes = completes && [.inProgress, .stopped].contains(hand.session.status)
        if completes || !plan.writes.isEmpty { try hand.mustTakeWrites() }
        let sheet = plan.changesAnswers ? hand.sheet.with(plan.answers) : hand.sheet
        let step = QuestionnaireSessionStep(
            status: hand.session.status, wasCompleted: hand.session.snapshots > 0, changesAnswers: plan.changesAnswers,
            completes: completes, missing: sheet.missing)
        return (sheet, step)
    }

    /// Writes the snapshot and publishes the event, if the step concludes the session.
    ///
    /// - Parameter watch: waits until the event was tried.
    func conclude(
        _ sheet: AnswerSheet, _ step: QuestionnaireSessionStep, on hand: LoadedQuestionnaireSession,
        watch: DeliveryWatch? = nil,
        in transaction: Transaction
    ) async throws {
        guard case .conclude(let status) = step else { return }
        let (session, now, scores) = (hand.session, hand.session.now, Scoring(sheet: sheet).result)
        sessions.conclude(sheet, scores, as: status, of: hand.person, session: session, in: transaction)
        // Profile requests the extracts itself, because events carry no answers.
        let extracts = sheet.definition.hasExtracts ? true : nil
        guard status == .amended else {
            let event = SessionCompleted(
                personID: hand.person, sessionID: session.id, questionnaire: sheet.definition.key,
                version: sheet.definition.version, completedAt: now, scores: scores,
                extracts: extracts)
            return try await outbox.publish(event, watch: watch, in: transaction)
        }
        let event = SessionAmended(
            personID: hand.person, sessionID: session.id, questionnaire: sheet.definition.key,
            version: sheet.definition.version, completedAt: session.completedAt ?? now, amendedAt: now, scores: scores,
            extracts: extracts)
        try await outbox.publish(event, watch: watch, in: transaction)
    }

    /// The view of a session for a client.
    func view(
        _ hand: LoadedQuestionnaireSession, language header: String?, result: SessionResult?, isNew: Bool? = nil
    ) async throws -> SessionView {
        // A new session has the newest version already.
        let hasOffer = hand.session.status == .inProgress && isNew != true
        let newest = hasOffer ? try await definitions.documents.newest(of: hand.sheet.definition.key) : nil
        return try await view(hand, language: header, result: result, isNew: isNew, newest: newest)
    }

    /// - Parameter newest: the version that a session in progress can be offered; `nil` for none.
    func view(
        _ hand: LoadedQuestionnaireSession, language header: String?, result: SessionResult?, isNew: Bool? = nil,
        newest: (version: Int64, hash: [UInt8])?
    ) async throws -> SessionView {
        let (session, sheet) = (hand.session, hand.sheet)
        let offer =
            session.status == .inProgress
            ? try await offers.offer(from: session.version, to: newest, of: sheet.definition.key) : nil
        let next = sheet.next
        return SessionView(
            id: session.id, status: session.status,
            questionnaire: hand.published.reference(in: hand.published.language(for: header)), answers: sheet.views,
            subjects: sheet.subjectViews, asked: sheet.asked, progress: sheet.progress,
            next: next.map(NextQuestion.init), closing: sheet.closing(where: next).orNil,
            lastCompleted: sheet.lastCompleted(before: next).map {
                AnsweredPlace(question: $0.question, subject: $0.subject)
            },
            openedAt: session.openedAt, completedAt: session.completedAt, result: result, isNew: isNew,
            offer: offer)
    }
}

extension BusError {
    /// The session can still be read.
    static let sessionStopped = BusError(
        .sessionStopped, "This session was stopped. Open a new one to answer the questions.")
    /// The session can still be read, opened again, moved and stopped.
    static let versionClosed = BusError(
        .versionClosed, "This version of the questionnaire is closed. Move the session to the newest one to go on.")
}

extension AnswerSheet {
    /// The answers to the questions that are asked now. It filters the items in place, because a list of the visible
    /// items would copy them.
    var views: [AnswerView] {
        items.compactMap { item in
            guard !item.isHidden, let answer = item.answer else { return nil }
            return AnswerView(
                question: item.questionKey, state: answer.state, value: answer.value, revision: answer.revision,
                answeredAt: answer.changedAt, stale: item.isStale ? true : nil, subject: item.subject,
                preference: answer.preference)
        }
    }

    /// The subjects of the session. Each has the label that the question of its section asked for, or else its own.
    var subjectViews: [SubjectView] {
        subjects.map { subject in
            let section = definition.sections.first { $0.repetition?.subject == subject.kind }
            let named = section?.repetition?.label.flatMap { item(at: AnswerPlace($0, of: subject.id)) }
            return SubjectView(
                id: subject.id, kind: subject.kind,
                label: named.flatMap { answers[$0.key]?.value?.stringValue } ?? subject.label)
        }
    }

    /// The questions that are asked now.
    var asked: [AskedQuestion] {
        items.compactMap { item in
            guard !item.isHidden else { return nil }
            return AskedQuestion(
                question: item.questionKey, subject: item.subject, required: item.required,
                options: definition.questions[item.place].hasConditionalOptions ? item.options.map(\.key) : nil)
        }
    }

    /// The keys in document order.
    func ordered(_ keys: Set<String>) -> [String] { keys.isEmpty ? [] : items.map(\.key).filter(keys.contains) }
}

extension NextQuestion {
    init(_ step: NextPlace) {
        self.init(
            question: step.question, subject: step.subject, reason: step.reason.rawValue, before: step.before)
    }
}

/// The effect of a request: the questions that it showed, hid and made stale, and the next question.
struct SheetChange {
    let next: NextQuestion?
    let closing: [String]
    let shown: [String]
    /// The questions that the request hid, and hidden questions that it answered.
    let hidden: [String]
    let stale: [String]

    /// - Parameter written: the keys of the answers in the request.
    init(from before: AnswerSheet, to after: AnswerSheet, written: Set<String> = []) {
        let (hiddenBefore, hiddenAfter) = (before.hidden, after.hidden)
        shown = after.ordered(hiddenBefore.subtracting(hiddenAfter))
        hidden = after.ordered(hiddenAfter.subtracting(hiddenBefore).union(written.intersection(hiddenAfter)))
        stale = after.ordered(after.stale.subtracting(before.stale))
        var step = after.next
        if let key = step?.key, step?.reason == .unanswered, hiddenBefore.contains(key) {
            step?.reason = .newlyVisible
        }
        next = step.map(NextQuestion.init)
        closing = after.closing(where: step)
    }
}
