import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText

extension SessionService {
    /// Runs `body`, which may open or move a session; once more with what profile says, where the definition looks at that.
    ///
    /// Which definition it is shows only inside of a transaction, and profile is asked outside of any. Most definitions look
    /// at nothing of profile, and nothing is done twice for them.
    ///
    /// - Throws: ``BusError`` `service_unavailable` where profile cannot be asked: what it would have said decides what the
    ///   person is asked for good, so nothing takes its place.
    func knowing<Value: Sendable>(
        _ facts: SessionFacts, of person: Identifier, _ context: RequestContext,
        _ body: @Loop (SessionFacts) async throws -> Value
    ) async throws -> Value {
        var facts = facts
        while true {
            do {
                return try await body(facts)
            } catch let wanted as SessionFacts.Wanted {
                // Each time it is something that was not asked for before, so this ends.
                let told = try await ask(wanted, of: person, context)
                for field in wanted.fields { facts.profile[field] = told[field] ?? .null }
            }
        }
    }

    private func ask(
        _ wanted: SessionFacts.Wanted, of person: Identifier, _ context: RequestContext
    ) async throws -> [String: JSONValue] {
        // By which days ages are counted keeps nobody from beginning, and nobody waiting.
        let isZoneAlone = wanted.fields == [SessionFacts.timeZone]
        let timeout = min(isZoneAlone ? .milliseconds(500) : .seconds(2), context.remaining)
        let options = CallOptions(timeout: timeout, trace: context.trace.child())
        do {
            return try await bus.call(GetFacts(personID: person, fields: wanted.fields.sorted()), options).facts
        } catch {
            guard !isZoneAlone else { return [:] }
            throw BusError(
                .serviceUnavailable, "The questions cannot be begun at the moment. Please try again.",
                retryAfter: .seconds(1))
        }
    }

    /// The person's newest session that was not stopped, in one round trip; opened where there is none.
    ///
    /// - Throws: that nothing is published yet.
    func current(of person: Identifier, for questionnaire: String, knowing facts: SessionFacts) async throws
        -> LoadedSession
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

    /// As ``current(of:for:knowing:)``, nobody else's until the transaction ends.
    func takeCurrent(
        of person: Identifier, for questionnaire: String, mutations: [Identifier], knowing facts: SessionFacts,
        in transaction: Transaction
    ) async throws -> LoadedSession {
        func locked() async throws -> StoredSession? {
            try await sessions.locked(nil, of: person, for: questionnaire, mutations: mutations, in: transaction)
        }
        if let session = try await locked() { return try await hand(session, of: person) }
        try await open(for: person, questionnaire, unless: Self.notStopped, knowing: facts, in: transaction)
        guard let session = try await locked() else { throw BusError.nothingPublished }
        return try await hand(session, of: person)
    }

    /// The open session; a new one where there is none.
    ///
    /// - Returns: `nil` where nothing is published; whether it is new.
    func opened(
        for person: Identifier, _ questionnaire: String, knowing facts: SessionFacts, in transaction: Transaction
    ) async throws -> (session: StoredSession, isNew: Bool)? {
        // Whoever stops or completes the open one at this moment leaves none: another is opened then.
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

    /// Opens a session and tells profile so.
    ///
    /// - Returns: what the session is, where one was opened and nobody else opened one meanwhile.
    @discardableResult
    private func open(
        for person: Identifier, _ questionnaire: String, unless statuses: [SessionStatus], knowing facts: SessionFacts,
        in transaction: Transaction
    ) async throws -> Identifier? {
        guard let hash = try await sessions.toOpen(for: person, questionnaire, unless: statuses, in: transaction) else {
            return nil
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
