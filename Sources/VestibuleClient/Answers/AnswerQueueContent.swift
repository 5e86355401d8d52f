import Foundation

/// The content of a queue of answers: waiting writes, conflicts that the person has to decide, and refused answers.
public struct AnswerQueueContent: Codable, Sendable, Equatable {
    /// Writes that the server has not answered, in order.
    public internal(set) var waiting: [QueuedAnswer] = []
    /// Answers that were changed on another device. Show both, then call ``AnswerQueue/keepMine(_:)`` or
    /// ``AnswerQueue/keepTheirs(_:)``.
    public internal(set) var conflicts: [AnswerConflict] = []
    /// Answers that the server refused. Show each question again with its error. The next answer to the question
    /// replaces it.
    public internal(set) var refused: [RefusedAnswer] = []
    /// Why the last attempt to send stopped: `version_closed`, `session_stopped` or `not_found`; `nil` if it did not.
    /// The next ``AnswerQueue/send()`` tries again.
    public internal(set) var blocked: ProblemCode?
    /// The most writes in a request, after a larger one was refused as a whole; `nil` for ``batch``.
    var limit: Int?
    /// The newest revision of each answer, as this device knows it.
    var revisions: [AnswerPlace: Int] = [:]

    init() {}
}

/// The question that an answer belongs to, and the subject in a section that repeats.
public struct AnswerPlace: Codable, Sendable, Hashable {
    /// The key of the question.
    public var question: String
    /// The subject; `nil` in a section that does not repeat.
    public var subject: UUID?

    /// A place.
    public init(_ question: String, subject: UUID? = nil) { (self.question, self.subject) = (question, subject) }
}

/// An answer of this device, and another one that was stored meanwhile.
public struct AnswerConflict: Codable, Sendable, Equatable {
    /// The answer that this device wants to write.
    public var mine: QueuedAnswer
    /// The stored answer.
    public var theirs: StoredAnswer
}

/// The answer that is stored, as a conflict shows it.
public struct StoredAnswer: Codable, Sendable, Equatable {
    /// The number of changes of this answer; 0 if it was removed.
    public var revision: Int
    /// The state of the answer.
    public var state: AnswerState
    /// The value, if the state is `answered`.
    public var value: JSONValue?
    /// The person's name for the device that wrote it.
    public var device: String?
    /// The answers that the person wants from others.
    public var preference: AnswerPreference?
}

/// An answer that the server refused, and the reason.
public struct RefusedAnswer: Codable, Sendable, Equatable {
    /// The answer.
    public var answer: QueuedAnswer
    /// `validation_failed` and the like.
    public var code: QueuedErrorCode
    /// A sentence that the person may be shown.
    public var detail: String
    /// The problems of single members.
    public var errors: [FieldProblem]
}

extension QueuedAnswer {
    var place: AnswerPlace { AnswerPlace(question, subject: subject) }
}

// MARK: How it changes

/// The web client changes its queue in the same way: `clients/cases.json` has the cases of both.
extension AnswerQueueContent {
    /// The most writes that one request takes, and the most bytes of their JSON.
    static let (batch, batchBytes) = (100, 60_000)
    private static let blocking: Set<ProblemCode> = [.versionClosed, .sessionStopped, .notFound]

    /// Adds a new answer.
    mutating func add(_ answer: QueuedAnswer) {
        guard !holds(answer.mutationId) else { return }
        var answer = answer
        let place = answer.place
        answer.baseRevision = answer.baseRevision.map { max($0, revisions[place] ?? 0) }
        refused.removeAll { $0.answer.place == place }
        if let open = conflicts.firstIndex(where: { $0.mine.place == place }) {
            guard answer.force == true || answer.baseRevision ?? 0 >= conflicts[open].theirs.revision else {
                // The person has not seen the stored answer. The conflict stays, with this device's newer answer.
                conflicts[open].mine = answer
                return
            }
            conflicts.remove(at: open)
        }
        waiting.append(answer)
    }

    private func holds(_ mutation: UUID) -> Bool {
        (waiting + conflicts.map(\.mine) + refused.map(\.answer)).contains { $0.mutationId == mutation }
    }

    /// The writes of the next request, in order. The second write of an answer waits for the revision of the first.
    func next() -> [QueuedAnswer] {
        if blocked != nil { return [] }
        var (places, bytes): (Set<AnswerPlace>, Int) = ([], 0)
        return Array(
            waiting.prefix(limit ?? Self.batch).prefix { write in
                bytes += (try? WireJSON.encoder().encode(write).count) ?? 0
                return (places.isEmpty || bytes <= Self.batchBytes) && places.insert(write.place).inserted
            })
    }

    /// Applies the results of a request.
    mutating func take(_ results: [QueuedResult]) {
        for result in results {
            guard let index = waiting.firstIndex(where: { $0.mutationId == result.mutationId }) else { continue }
            let write = waiting.remove(at: index)
            if result.saved {
                refused.removeAll { $0.answer.place == write.place }
                note(result.revision ?? 0, of: write.place)
            } else if result.error?.code == .answerConflict,
                let theirs = result.error?.current.flatMap(StoredAnswer.init)
            {
                let mine = waiting.last { $0.place == write.place } ?? write
                waiting.removeAll { $0.place == write.place }
                conflicts.append(AnswerConflict(mine: mine, theirs: theirs))
            } else {
                base(write.place, on: write.baseRevision ?? 0)
                refused.append(
                    RefusedAnswer(
                        answer: write, code: result.error?.code ?? .validationFailed,
                        detail: result.error?.detail ?? "", errors: result.error?.errors ?? []))
            }
        }
        // A request that was small enough may grow again.
        limit = limit.flatMap { $0 * 2 < Self.batch ? $0 * 2 : nil }
    }

    /// Applies the failure of a request with these writes as a whole.
    mutating func take(_ error: VestibuleError, of sent: [QueuedAnswer]) {
        switch error {
        case .problem(let problem): take(problem, of: sent)
        // A page of a proxy is no verdict on a write. It may be one on the size of all.
        case .unreadable(status: 413, _) where sent.count > 1: limit = sent.count / 2
        default: break
        }
    }

    private mutating func take(_ problem: Problem, of sent: [QueuedAnswer]) {
        if Self.blocking.contains(problem.code) { blocked = problem.code }
        guard [400, 413, 422].contains(problem.status) else { return }
        // One of the writes is wrong, or all are too large together.
        guard sent.count == 1 else {
            limit = sent.count / 2
            return
        }
        waiting.removeAll { $0.mutationId == sent[0].mutationId }
        refused.append(
            RefusedAnswer(
                answer: sent[0], code: QueuedErrorCode(rawValue: problem.code.rawValue), detail: problem.detail,
                errors: problem.errors ?? []))
    }

    /// Ends a conflict: the person keeps the answer of this device.
    ///
    /// - Parameter mutation: the ID of the new write.
    mutating func keepMine(_ conflict: AnswerConflict, mutation: UUID) {
        guard remove(conflict) else { return }
        var answer = conflict.mine
        (answer.mutationId, answer.baseRevision) = (mutation, conflict.theirs.revision)
        waiting.append(answer)
    }

    /// Ends a conflict: the person keeps the answer that is stored.
    mutating func keepTheirs(_ conflict: AnswerConflict) { _ = remove(conflict) }

    /// - Returns: `false` if the conflict is no longer open, or if this device has another answer now.
    private mutating func remove(_ conflict: AnswerConflict) -> Bool {
        guard let index = conflicts.firstIndex(where: { $0.mine.mutationId == conflict.mine.mutationId }) else {
            return false
        }
        note(conflict.theirs.revision, of: conflict.mine.place)
        conflicts.remove(at: index)
        return true
    }

    private mutating func note(_ revision: Int, of place: AnswerPlace) {
        revisions[place] = revision
        base(place, on: revision)
    }

    /// The next write of an answer is based on the answer that was saved before it. It has not been sent yet.
    private mutating func base(_ place: AnswerPlace, on revision: Int) {
        guard let next = waiting.firstIndex(where: { $0.place == place }) else { return }
        waiting[next].baseRevision = waiting[next].baseRevision.map { max($0, revision) }
    }
}

extension StoredAnswer {
    init?(_ current: JSONValue) {
        guard let item = try? WireJSON.encoder().encode(current),
            let stored = try? WireJSON.decoder().decode(StoredAnswer.self, from: item)
        else { return nil }
        self = stored
    }
}
