import Foundation

/// What a queue of answers holds: what waits to be sent, what the person has to decide, and what was not taken.
public struct AnswerQueueContent: Codable, Sendable, Equatable {
    /// Writes that the server has not answered, in order.
    public internal(set) var waiting: [QueuedAnswer] = []
    /// Answers that were changed on another device. Show both, then call ``AnswerQueue/keepMine(_:)`` or
    /// ``AnswerQueue/keepTheirs(_:)``.
    public internal(set) var conflicts: [AnswerConflict] = []
    /// Answers that the server did not take. Show each question again with its error. The next answer to it takes its place.
    public internal(set) var refused: [RefusedAnswer] = []
    /// How many writes at the front were sent. The server may have done them, so they stay as they are.
    var sent = 0
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
    /// What this device wants to write.
    public var mine: QueuedAnswer
    /// What is stored.
    public var theirs: StoredAnswer
}

/// The answer that is stored, as a conflict shows it.
public struct StoredAnswer: Codable, Sendable, Equatable {
    /// The number of changes of this answer; 0 if it was removed.
    public var revision: Int
    /// What the person did with the question.
    public var state: AnswerState
    /// The value, if the state is `answered`.
    public var value: JSONValue?
    /// The person's name for the device that wrote it.
    public var device: String?
    /// What the person wants of another person's answer.
    public var preference: AnswerPreference?
}

/// An answer that the server did not take, and why.
public struct RefusedAnswer: Codable, Sendable, Equatable {
    /// The answer.
    public var answer: QueuedAnswer
    /// `validation_failed` and the like.
    public var code: QueuedErrorCode
    /// A sentence that the person may be shown.
    public var detail: String
    /// What is wrong with which member.
    public var errors: [FieldProblem]
}

extension QueuedAnswer {
    var place: AnswerPlace { AnswerPlace(question, subject: subject) }
}

// MARK: How it changes

extension AnswerQueueContent {
    /// The most writes that one request takes.
    static let batch = 100

    /// Takes a new answer in. It replaces what waits for the same question and was never sent.
    mutating func add(_ answer: QueuedAnswer) {
        var answer = answer
        let place = answer.place
        answer.baseRevision = answer.baseRevision.map { max($0, revisions[place] ?? 0) }
        refused.removeAll { $0.answer.place == place }
        if let open = conflicts.firstIndex(where: { $0.mine.place == place }) {
            guard (answer.baseRevision ?? .max) >= conflicts[open].theirs.revision else {
                // The person has not seen the other answer: the choice stays, with the newer answer of this device.
                conflicts[open].mine = answer
                return
            }
            conflicts.remove(at: open)
        }
        if let unsent = waiting[sent...].firstIndex(where: { $0.place == place }) { waiting.remove(at: unsent) }
        waiting.append(answer)
    }

    /// The writes to send next. The second write of an answer waits for the revision of the first.
    func next(atMost limit: Int = batch) -> [QueuedAnswer] {
        var places: Set<AnswerPlace> = []
        return Array(waiting.prefix(limit).prefix { places.insert($0.place).inserted })
    }

    /// Takes the results of writes in.
    mutating func take(_ results: [QueuedResult]) {
        for result in results {
            guard let index = waiting.firstIndex(where: { $0.mutationId == result.mutationId }) else { continue }
            let write = remove(at: index)
            if let revision = result.revision, result.saved {
                note(revision, of: write.place)
            } else if let error = result.error {
                take(error, of: write)
            }
        }
    }

    private mutating func take(_ error: QueuedError, of write: QueuedAnswer) {
        let later = waiting.firstIndex { $0.place == write.place }
        if error.code == .answerConflict, let theirs = error.current.flatMap(StoredAnswer.init) {
            conflicts.append(AnswerConflict(mine: later.map { remove(at: $0) } ?? write, theirs: theirs))
        } else if later == nil {
            refuse(write, error.code, error.detail, error.errors ?? [])
        }
    }

    /// Takes out writes that a request as a whole was refused for.
    ///
    /// - Returns: whether the problem names any of them.
    mutating func take(_ problem: Problem, of batch: [QueuedAnswer]) -> Bool {
        let found = Dictionary(grouping: problem.errors ?? []) { error -> Int? in
            let parts = error.pointer.split(separator: "/")
            return parts.count > 1 && parts[0] == "answers" ? Int(parts[1]) : nil
        }
        var named = batch.indices.filter { found[$0] != nil }
        if named.isEmpty, batch.count == 1 { named = [0] }
        for index in named {
            guard let place = waiting.firstIndex(where: { $0.mutationId == batch[index].mutationId }) else { continue }
            refuse(
                remove(at: place), QueuedErrorCode(rawValue: problem.code.rawValue), problem.detail, found[index] ?? [])
        }
        return !named.isEmpty
    }

    private mutating func refuse(
        _ write: QueuedAnswer, _ code: QueuedErrorCode, _ detail: String, _ errors: [FieldProblem]
    ) {
        refused.append(RefusedAnswer(answer: write, code: code, detail: detail, errors: errors))
    }

    /// Ends a conflict: the person keeps the answer of this device.
    ///
    /// - Parameter mutation: the ID of the write that does it.
    mutating func keepMine(_ place: AnswerPlace, mutation: UUID) {
        guard let conflict = removeConflict(at: place) else { return }
        var answer = conflict.mine
        (answer.mutationId, answer.baseRevision) = (mutation, conflict.theirs.revision)
        waiting.append(answer)
    }

    /// Ends a conflict: the person keeps the answer that is stored.
    mutating func keepTheirs(_ place: AnswerPlace) { _ = removeConflict(at: place) }

    private mutating func removeConflict(at place: AnswerPlace) -> AnswerConflict? {
        guard let index = conflicts.firstIndex(where: { $0.mine.place == place }) else { return nil }
        note(conflicts[index].theirs.revision, of: place)
        return conflicts.remove(at: index)
    }

    /// A write that was saved is the base of the next write of the same answer.
    private mutating func note(_ revision: Int, of place: AnswerPlace) {
        revisions[place] = revision
        for index in waiting.indices.dropFirst(sent) where waiting[index].place == place {
            waiting[index].baseRevision = waiting[index].baseRevision.map { max($0, revision) }
        }
    }

    private mutating func remove(at index: Int) -> QueuedAnswer {
        if index < sent { sent -= 1 }
        return waiting.remove(at: index)
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
