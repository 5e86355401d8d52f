import Foundation

/// The answers to one questionnaire's session, kept on the device until the server has them.
///
/// An answer is saved before it is sent. Each has an ID of its own. So the server stores it once, even if the
/// connection breaks at any moment. Get the queue of a session with ``Vestibule/answers(questionnaire:session:)``.
public actor AnswerQueue {
    /// The key of the questionnaire.
    public nonisolated let questionnaire: String
    /// The session that the answers belong to.
    public nonisolated let session: UUID

    private let api: any VestibuleAPI
    private let store: any ClientStore
    private let clock: ClientClock
    private var known: AnswerQueueContent?
    private var sending: Task<Result<AnswersSaved?, VestibuleError>, Never>?
    private let changes = Broadcast<AnswerQueueContent>()

    init(questionnaire: String, session: UUID, api: any VestibuleAPI, store: any ClientStore, clock: ClientClock) {
        (self.questionnaire, self.session) = (questionnaire, session)
        (self.api, self.store, self.clock) = (api, store, clock)
    }

    /// The content of the queue.
    ///
    /// - Throws: ``VestibuleError/store(_:)`` while that cannot be known.
    public func content() throws(VestibuleError) -> AnswerQueueContent {
        if let known { return known }
        do {
            let content = try store.read(item).map {
                try WireJSON.decoder().decode(AnswerQueueContent.self, from: $0)
            }
            known = content ?? AnswerQueueContent()
        } catch {
            throw .store(error)
        }
        if let known { changes.send(known) }
        return known ?? AnswerQueueContent()
    }

    /// The present content of the queue, and each later content.
    public func contentChanges() -> AsyncStream<AnswerQueueContent> {
        _ = try? content()
        return changes.listen()
    }

    // MARK: Answers

    /// Saves an answer on the device. ``send()`` sends it.
    ///
    /// - Parameters:
    ///   - place: the question.
    ///   - state: the new state of the answer; `unanswered` removes the answer.
    ///   - value: in the form of the question's type, if the state is `answered`.
    ///   - preference: the answers that the person wants from others.
    ///   - revision: of the answer that the app showed, as ``AnswerView/revision`` has it; 0 if it showed none.
    ///   - device: the person's name for this device. A conflict on another one shows it.
    /// - Throws: ``VestibuleError/store(_:)``. Then nothing was saved.
    public func add(
        _ place: AnswerPlace, _ state: QueuedAnswerState = .answered, value: JSONValue? = nil,
        preference: AnswerPreferenceInput? = nil, seen revision: Int, device: String? = nil
    ) throws(VestibuleError) {
        let answer = QueuedAnswer(
            question: place.question, mutationId: UUID(), state: state, baseRevision: revision, clientTime: wholeSecond,
            device: device, preference: preference, subject: place.subject, value: value)
        try change { $0.add(answer) }
    }

    /// The time of a write does not change when it is stored and sent again. The server requires that of a repetition.
    private var wholeSecond: Date {
        Date(timeIntervalSince1970: clock.now().timeIntervalSince1970.rounded(.down))
    }

    /// Ends a conflict: keeps the answer of this device. ``send()`` sends it.
    ///
    /// - Throws: ``VestibuleError/store(_:)``.
    public func keepMine(_ conflict: AnswerConflict) throws(VestibuleError) {
        try change { $0.keepMine(conflict, mutation: UUID()) }
    }

    /// Ends a conflict: keeps the stored answer, and drops the answer of this device.
    ///
    /// - Throws: ``VestibuleError/store(_:)``.
    public func keepTheirs(_ conflict: AnswerConflict) throws(VestibuleError) { try change { $0.keepTheirs(conflict) } }

    /// Drops everything in the queue, for example after a final sign-out.
    ///
    /// - Throws: ``VestibuleError/store(_:)``.
    public func discard() throws(VestibuleError) {
        do { try store.write(nil, as: item) } catch { throw .store(error) }
        known = AnswerQueueContent()
        changes.send(AnswerQueueContent())
    }

    // MARK: Sending

    /// Sends the waiting answers in order, until none is left. Calls at the same time get the same result. Call it
    /// after an answer, at the start of the app, and when the network returns.
    ///
    /// - Returns: the server's last reply, with the next question for example; `nil` if nothing waited.
    /// - Throws: ``VestibuleError``; writes without a reply stay in the queue. At `version_closed` call ``migrate()``.
    ///   At `session_stopped` call ``discard()``, and open a new session.
    @discardableResult public func send() async throws(VestibuleError) -> AnswersSaved? {
        let running =
            sending
            ?? Task {
                defer { sending = nil }
                do throws(VestibuleError) {
                    return .success(try await sendAll())
                } catch {
                    return .failure(error)
                }
            }
        sending = running
        return try await running.value.get()
    }

    /// Sends the waiting answers and those that are added later. It ends when the task is cancelled, when the queue is
    /// ``AnswerQueueContent/blocked``, or when nobody is signed in. After any other failure it tries again later.
    ///
    /// - Throws: ``VestibuleError``.
    public func run() async throws(VestibuleError) {
        let news = contentChanges()
        var failures = 0
        while !Task.isCancelled {
            do throws(VestibuleError) {
                try await send()
                failures = 0
                for await content in news where !content.next().isEmpty { break }
            } catch {
                if case .signedOut = error { throw error }
                if (try? content())?.blocked != nil { throw error }
                failures += 1
                try? await clock.sleep(
                    RetryPolicy.queueWait(
                        failures: failures, retryAfterSeconds: error.outcome?.retryAfterSeconds, random: clock.random())
                )
            }
        }
    }

    /// Moves the session to the newest version of the questionnaire, and sends the queue. Read the session again after it.
    ///
    /// - Throws: ``VestibuleError``.
    @discardableResult public func migrate() async throws(VestibuleError) -> SessionMigrated {
        let migrated = try await api.migrateSession(questionnaire: questionnaire, session: session)
        try await send()
        return migrated
    }

    private func sendAll() async throws(VestibuleError) -> AnswersSaved? {
        if try content().blocked != nil { try change { $0.blocked = nil } }
        var last: AnswersSaved?
        while true {
            let batch = try content().next()
            if batch.isEmpty { return last }
            do throws(VestibuleError) {
                let saved = try await api.putAnswers(
                    questionnaire: questionnaire, session: session, PutAnswersRequest(answers: batch))
                try change { $0.take(saved.results) }
                if try content().next().first == batch.first { throw .unreadable(status: 200, NoResult()) }
                last = saved
            } catch {
                let before = try content()
                var after = before
                after.take(error, of: batch)
                guard after != before else { throw error }
                try change { $0 = after }
                // If the whole request was refused, the next one has fewer writes, so that the valid ones succeed.
                if after.blocked != nil { throw error }
            }
        }
    }

    /// The error for a reply that has no result for the first write.
    private struct NoResult: Error {}

    private var item: String { "answers-\(session.uuidString)" }

    private func change(_ body: (inout AnswerQueueContent) -> Void) throws(VestibuleError) {
        var content = try content()
        body(&content)
        do { try store.write(try WireJSON.encoder().encode(content), as: item) } catch { throw .store(error) }
        known = content
        changes.send(content)
    }
}
