import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText

extension QuestionnaireSessionService {
    /// Runs `body`, which may open or move a session. If the definition needs fields of profile, it requests them and
    /// runs `body` again.
    ///
    /// The definition is known only inside the transaction, but profile is called outside of it. Most definitions need
    /// nothing from profile, so `body` runs once for them.
    ///
    /// - Throws: ``BusError`` `service_unavailable` if profile does not answer. Its facts decide for good what the
    ///   person is asked, so they have no substitute. Only a missing time zone is accepted.
    func knowing<Value: Sendable>(
        _ facts: QuestionnaireSessionFacts, of person: Identifier, _ context: RequestContext,
        _ body: @Loop (QuestionnaireSessionFacts) async throws -> Value
    ) async throws -> Value {
        var facts = facts
        while true {
            do {
                return try await body(facts)
            } catch let wanted as QuestionnaireSessionFacts.Wanted {
                // Each round requests fields that were not requested before, so the loop ends.
                let told = try await ask(wanted, of: person, context)
                for field in wanted.fields { facts.profile[field] = told[field] ?? .null }
            }
        }
    }

    private func ask(
        _ wanted: QuestionnaireSessionFacts.Wanted, of person: Identifier, _ context: RequestContext
    ) async throws -> [String: JSONValue] {
        // The time zone only decides on which day ages are calculated. Without it the session opens anyway, after a
        // short wait.
        let isZoneAlone = wanted.fields == [QuestionnaireSessionFacts.timeZone]
        let timeout = min(isZoneAlone ? .milliseconds(500) : .seconds(2), context.remaining)
        let options = CallOptions(timeout: timeout, trace: context.trace.child())
        do {
            return try await bus.call(GetFacts(personID: person, fields: wanted.fields.sorted()), options).facts
        } catch {
            guard !isZoneAlone else { return [:] }
            throw error.answer(
                ifItPasses: BusError(
                    .serviceUnavailable, "The questions cannot be begun at the moment. Please try again.",
                    retryAfter: .seconds(1)))
        }
    }

    /// The person's current session, in one round trip. If there is none, it opens one.
    ///
    /// - Throws: ``BusError/nothingPublished`` if no session can be opened.
    func current(of person: Identifier, for questionnaire: String, knowing facts: QuestionnaireSessionFacts)
        async throws
        -> LoadedQuestionnaireSession
    {
        if let hand = try await look(nil, of: person, for: questionnaire) { return hand }
        try await sessions.database.transaction { transaction in
            _ = try await open(for: person, questionnaire, unless: Self.notStopped, knowing: facts, in: transaction)
        }
        guard let hand = try await look(nil, of: person, for: questionnaire) else {
            throw BusError.nothingPublished
        }
        return hand
    }

    /// Like ``current(of:for:knowing:)``, but locked until the transaction ends.
    func takeCurrent(
        of person: Identifier, for questionnaire: String, mutations: [Identifier],
        knowing facts: QuestionnaireSessionFacts,
        in transaction: Transaction
    ) async throws -> LoadedQuestionnaireSession {
        func locked() async throws -> StoredQuestionnaireSession? {
            try await sessions.locked(nil, of: person, for: questionnaire, mutations: mutations, in: transaction)
        }
        if let session = try await locked() { return try await hand(session, of: person) }
        try await open(for: person, questionnaire, unless: Self.notStopped, knowing: facts, in: transaction)
        guard let session = try await locked() else { throw BusError.nothingPublished }
        return try await hand(session, of: person)
    }

    /// The open session, or a new one if there is none.
    ///
    /// - Returns: the session, and whether it is new; `nil` if nothing is published.
    func opened(
        for person: Identifier, _ questionnaire: String, knowing facts: QuestionnaireSessionFacts,
        in transaction: Transaction
    ) async throws -> (session: StoredQuestionnaireSession, isNew: Bool)? {
        // Another request may stop or complete the open session at this moment. The second round then opens a new one.
        for _ in 0..<2 {
            let id = try await open(
                for: person, questionnaire, unless: [.inProgress], knowing: facts, in: transaction)
            if let session = try await sessions.findOpen(of: person, for: questionnaire, in: transaction) {
                return (session, session.id == id)
            }
        }
        return nil
    }

    private static let notStopped: [SessionStatus] = [.inProgress, .completed, .amended]

    /// Opens a session and publishes the event.
    ///
    /// - Returns: the id of the session; `nil` if this call opened none.
    /// - Throws: ``BusError`` `too_many_sessions` if the person has ``OpenSession/most`` sessions that are not stopped.
    @discardableResult
    private func open(
        for person: Identifier, _ questionnaire: String, unless statuses: [SessionStatus],
        knowing facts: QuestionnaireSessionFacts,
        in transaction: Transaction
    ) async throws -> Identifier? {
        guard
            let (hash, hasRoom) = try await sessions.toOpen(
                for: person, questionnaire, unless: statuses, in: transaction)
        else { return nil }
        guard hasRoom else {
            throw BusError(
                .tooManySessions,
                "You have completed this questionnaire \(OpenSession.most) times. Open one of them again to change your answers."
            )
        }
        let id = Identifier.ordered()
        let facts = try facts.pins(for: try await definitions.definition(hash))
        guard
            let opened = try await sessions.open(
                hash, for: person, questionnaire, unless: statuses, as: id, knowing: facts, in: transaction)
        else { return nil }
        let event = SessionOpened(
            personID: person, sessionID: id, questionnaire: questionnaire, version: opened.version,
            openedAt: opened.openedAt)
        try await outbox.publish(event, in: transaction)
        return id
    }
}
