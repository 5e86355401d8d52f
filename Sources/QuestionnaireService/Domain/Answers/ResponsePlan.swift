import BusProtocol
import Cryptography
import JSONText

/// What a request's answers do to a session: judged as a whole before anything is written.
struct ResponsePlan: Sendable, Equatable {
    /// One row to write: an answer that changed, a mutation to remember, or both.
    struct Write: Sendable, Equatable {
        /// Of the answer's ``AnswerPlace``.
        var key: String
        var answer: Answer
        /// `false`: the answer stands as it was, and only the mutation is remembered.
        var changesAnswer: Bool
        var mutation: RecordedMutation?
        var clientTime: Timestamp?
        /// Of a first answer: the change before it in the session; `nil` where it is the session's first, too.
        var since: Timestamp?
    }

    /// The answers afterwards, by their places' keys.
    var answers: [String: Answer]
    var writes: [Write] = []
    /// One for each item, in order.
    var outcomes: [ItemOutcome] = []

    var changesAnswers: Bool { writes.contains(where: \.changesAnswer) }

    /// What the saved items left their answers at.
    var revisions: [AnswerRevision] { outcomes.compactMap(\.revision) }

    /// Items are taken in order, each on top of the ones before it; what cannot be saved keeps nothing else from being so.
    ///
    /// - Parameters:
    ///   - mutations: what is remembered of the mutation ids that the items carry.
    ///   - now: when the answers are changed, by the database's clock.
    static func each(
        _ items: [ResponseItem], on sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp
    ) -> ResponsePlan {
        var planner = ResponsePlanner(sheet: sheet, mutations: mutations, now: now)
        for item in items { planner.take(item) }
        planner.plan.answers = planner.sheet.answers
        return planner.plan
    }

    /// As ``each(_:on:mutations:now:)``, but of all items or of none.
    ///
    /// - Throws: everything that is wrong, of the gravest kind: invalid items, else reused ids, else conflicts.
    static func make(
        _ items: [ResponseItem], on sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp
    ) throws(ResponseRefusal) -> ResponsePlan {
        let plan = each(items, on: sheet, mutations: mutations, now: now)
        var (invalid, reused) = ([BusError.FieldProblem](), [BusError.FieldProblem]())
        var conflicts: [AnswerConflict] = []
        for (index, outcome) in plan.outcomes.enumerated() {
            switch outcome {
            case .saved: break
            case .invalid(let problem):
                invalid.append(
                    .init(field: "answers.\(index).\(problem.field)", code: problem.code, message: problem.message))
            case .reused: reused.append(ItemOutcome.reuse(at: "answers.\(index).mutationId"))
            case .conflict(let current):
                conflicts.append(AnswerConflict(index: index, question: items[index].question, current: current))
            }
        }
        if !invalid.isEmpty { throw .invalid(invalid) }
        if !reused.isEmpty { throw .mutationReused(reused) }
        if !conflicts.isEmpty { throw .conflict(conflicts) }
        return plan
    }
}

/// What becomes of one item.
enum ItemOutcome: Sendable, Equatable {
    /// Also where it was saved before.
    case saved(AnswerRevision)
    /// The field is a member of the item.
    case invalid(BusError.FieldProblem)
    /// Its mutation id is that of another write.
    case reused
    /// The answer was changed by somebody else in the meantime; `nil`: there is none.
    case conflict(Answer?)

    var revision: AnswerRevision? { if case .saved(let revision) = self { revision } else { nil } }

    static func reuse(at field: String) -> BusError.FieldProblem {
        .init(field: field, code: ErrorCode.mutationIDReused.name, message: "This id was used for another write.")
    }
}

/// A write that was done under a client's id, to be answered and not done again.
struct RecordedMutation: Sendable, Equatable {
    var id: Identifier
    /// SHA-256 of the item in canonical form.
    var digest: [UInt8]
    /// Of the answer's ``AnswerPlace``.
    var key: String
    /// What the answer was left at.
    var revision: Int64
    /// What was answered; `nil` where the write was one of several.
    var reply: JSONValue?

    /// Of the item's canonical JSON, which replicas of two releases write alike.
    static func digest(of item: ResponseItem) -> [UInt8] {
        SHA256.digest(item.jsonBytes)
    }
}

private struct ResponsePlanner {
    var sheet: AnswerSheet
    var mutations: [Identifier: RecordedMutation]
    let now: Timestamp
    var plan: ResponsePlan

    init(sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp) {
        self.sheet = sheet
        self.mutations = Dictionary(mutations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.now = now
        plan = ResponsePlan(answers: sheet.answers)
    }

    mutating func take(_ item: ResponseItem) { plan.outcomes.append(outcome(of: item)) }

    private mutating func outcome(of item: ResponseItem) -> ItemOutcome {
        if let id = item.mutationId, let known = mutations[id] {
            guard known.digest == RecordedMutation.digest(of: item) else { return .reused }
            return .saved(AnswerRevision(AnswerPlace(item.question, of: item.subject), known.revision))
        }
        let place = AnswerPlace(item.question, of: item.subject)
        // As the items before this one leave it. An answer to a hidden question is kept for when it is shown.
        guard let asked = sheet.item(at: place) else { return stranger(place) }
        do throws(ItemProblem) {
            return write(try judge(item, of: asked), item, at: asked.key)
        } catch {
            return .invalid(.init(field: error.member, code: error.problem.code, message: error.problem.message))
        }
    }

    private func stranger(_ place: AnswerPlace) -> ItemOutcome {
        guard sheet.definition.place(of: place.question) != nil else {
            return .invalid(
                .init(field: "question", code: "unknown_question", message: "There is no such question."))
        }
        let message =
            place.subject == nil
            ? "Say whom this answer is about." : "This question is not asked about anybody of that id."
        return .invalid(.init(field: "subject", code: "unknown_subject", message: message))
    }

    /// The state, the canonical value and the device's name that an item stands for.
    private func judge(_ item: ResponseItem, of asked: AnswerSheet.Item) throws(ItemProblem) -> Judged {
        let (state, value) = try judgeValue(item, of: asked)
        return Judged(
            state: state, value: value, device: try deviceName(item.device),
            preference: try preference(of: item, state, asked))
    }

    private func preference(
        of item: ResponseItem, _ state: AnswerState, _ asked: AnswerSheet.Item
    ) throws(ItemProblem) -> AnswerPreference? {
        guard let given = item.preference else { return nil }
        guard state == .answered else {
            throw ItemProblem("preference", "not_allowed", "Only with an answer can you say what you want of others.")
        }
        do throws(AnswerProblem) {
            // Another person may be offered what this one is not.
            return try sheet.definition.questions[asked.place].canonical(given)
        } catch {
            throw ItemProblem("preference", error.code, error.message)
        }
    }

    private func deviceName(_ name: String?) throws(ItemProblem) -> String? {
        guard let name else { return nil }
        do throws(AnswerProblem) {
            return try AnswerValidator.text(
                .string(name), in: TextLimits(least: 1, most: 64, pattern: .singleLine))
        } catch {
            throw ItemProblem("device", error.code, error.message)
        }
    }

    private func judgeValue(
        _ item: ResponseItem, of asked: AnswerSheet.Item
    ) throws(ItemProblem) -> (AnswerState, JSONValue?) {
        let state = item.state ?? .answered
        guard state == .answered else {
            guard item.value == nil else {
                throw ItemProblem("value", "no_value", "There is no value where the state is not answered.")
            }
            try allow(state, for: asked)
            return (state, nil)
        }
        guard let value = item.value else { throw ItemProblem("value", "required", "This is required.") }
        do throws(AnswerProblem) {
            return (.answered, try AnswerValidator(question: asked.question, today: sheet.today).canonical(value))
        } catch {
            throw ItemProblem("value", error.code, error.message)
        }
    }

    private func allow(_ state: AnswerState, for asked: AnswerSheet.Item) throws(ItemProblem) {
        switch state {
        case .skipped where !asked.skippable:
            throw ItemProblem("state", "not_skippable", "This question cannot be skipped.")
        case .skipped where asked.required:
            throw ItemProblem("state", "answer_required", "This question wants an answer.")
        case .skipped where sheet.answers[asked.key]?.state == .answered && !asked.isStale:
            throw ItemProblem("state", "has_value", "This question is answered already.")
        case .declined where !asked.declinable:
            throw ItemProblem("state", "not_declinable", "This question cannot be declined.")
        case .acknowledged where asked.required && asked.isCounted && !asked.suggestionCounts:
            throw ItemProblem("state", "answer_required", "This question wants an answer.")
        default: break
        }
    }

    private mutating func write(_ judged: Judged, _ item: ResponseItem, at key: String) -> ItemOutcome {
        let current = sheet.answers[key]
        var answer = Answer(
            state: judged.state, value: judged.value, revision: (current?.revision ?? 0) + 1, changedAt: now,
            device: judged.device, preference: judged.preference)
        // Given again, an answer to another version's question is one to this.
        let isChange =
            (current?.state ?? .unanswered) != answer.state || current?.value != answer.value
            || current?.preference != answer.preference || current?.isStale == true
        if !isChange {
            answer = current ?? Answer(state: .unanswered, value: nil, revision: 0, changedAt: now)
        }
        // Whoever forces it has seen the other answer, which stays in the history.
        if isChange, item.force != true, let base = item.baseRevision, base != current?.revision ?? 0 {
            return .conflict(current)
        }
        let mutation = item.mutationId.map {
            RecordedMutation(
                id: $0, digest: RecordedMutation.digest(of: item), key: key, revision: answer.revision)
        }
        if let mutation { mutations[mutation.id] = mutation }
        let since = current == nil ? sheet.answers.values.map(\.changedAt).max() : nil
        if isChange { sheet.set(answer, for: key) }
        if isChange || mutation != nil {
            plan.writes.append(
                .init(
                    key: key, answer: answer, changesAnswer: isChange, mutation: mutation, clientTime: item.clientTime,
                    since: since))
        }
        return .saved(AnswerRevision(AnswerPlace(item.question, of: item.subject), answer.revision))
    }
}

extension AnswerRevision {
    fileprivate init(_ place: AnswerPlace, _ revision: Int64) {
        self.init(question: place.question, revision: revision, subject: place.subject)
    }
}

/// What an item stands for, once nothing is wrong with it.
private struct Judged {
    var state: AnswerState
    /// Canonical.
    var value: JSONValue?
    var device: String?
    var preference: AnswerPreference?
}

/// What is wrong with one member of an item.
private struct ItemProblem: Error {
    var member: String
    var problem: AnswerProblem

    init(_ member: String, _ code: String, _ message: String) {
        (self.member, problem) = (member, AnswerProblem(code, message))
    }
}
