import BusProtocol
import Cryptography
import JSONText

/// What a request's answers do to a session: judged as a whole before anything is written.
struct ResponsePlan: Sendable, Equatable {
    /// One row to write: an answer that changed, a mutation to remember, or both.
    struct Write: Sendable, Equatable {
        var question: String
        var answer: Answer
        /// `false`: the answer stands as it was, and only the mutation is remembered.
        var changesAnswer: Bool
        var mutation: RecordedMutation?
        var clientTime: Timestamp?
    }

    /// The answers afterwards, by question.
    var answers: [String: Answer]
    var writes: [Write] = []
    /// One for each item, in order.
    var revisions: [AnswerRevision] = []

    var changesAnswers: Bool { writes.contains(where: \.changesAnswer) }

    /// Items are taken in order, each on top of the ones before it.
    ///
    /// - Parameters:
    ///   - mutations: what is remembered of the mutation ids that the items carry.
    ///   - now: when the answers are changed, by the database's clock.
    /// - Throws: everything that is wrong, of the gravest kind: invalid items, else reused ids, else conflicts.
    static func make(
        _ items: [ResponseItem], on sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp
    ) throws(ResponseRefusal) -> ResponsePlan {
        var planner = ResponsePlanner(sheet: sheet, mutations: mutations, now: now)
        for (index, item) in items.enumerated() { planner.take(item, at: index) }
        return try planner.finish()
    }
}

/// A write that was done under a client's id, to be answered and not done again.
struct RecordedMutation: Sendable, Equatable {
    var id: Identifier
    /// SHA-256 of the item in canonical form.
    var digest: [UInt8]
    var question: String
    /// What the answer was left at.
    var revision: Int64

    static func digest(of item: ResponseItem) -> [UInt8] {
        // An item came out of a JSON text, so it goes back into one.
        guard let bytes = try? WireJSON.encode(item), let value = try? JSONValue.parse(bytes) else { return [] }
        return SHA256.digest(CanonicalJSON.bytes(of: value))
    }
}

private struct ResponsePlanner {
    var sheet: AnswerSheet
    var mutations: [Identifier: RecordedMutation]
    let now: Timestamp
    var plan: ResponsePlan
    var invalid: [BusError.FieldProblem] = []
    var reused: [BusError.FieldProblem] = []
    var conflicts: [AnswerConflict] = []

    init(sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp) {
        self.sheet = sheet
        self.mutations = Dictionary(mutations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.now = now
        plan = ResponsePlan(answers: sheet.answers)
    }

    mutating func take(_ item: ResponseItem, at index: Int) {
        let field = "answers.\(index)"
        if let id = item.mutationId, let known = mutations[id] {
            if known.digest == RecordedMutation.digest(of: item) {
                return plan.revisions.append(AnswerRevision(question: known.question, revision: known.revision))
            }
            return reused.append(
                .init(
                    field: "\(field).mutationId", code: ErrorCode.mutationIDReused.name,
                    message: "This id was used for another write."))
        }
        guard let place = sheet.definition.place(of: item.question) else {
            return refuse("\(field).question", "unknown_question", "There is no such question.")
        }
        // As the items before this one leave it. An answer to a hidden question is kept for when it is shown.
        let question = sheet.questions[place]
        guard item.subject == nil else {
            return refuse("\(field).subject", "unknown_subject", "This question is not asked about anybody else.")
        }
        do throws(ItemProblem) {
            write(try judge(item, of: question), item, at: index)
        } catch {
            refuse("\(field).\(error.member)", error.problem.code, error.problem.message)
        }
    }

    /// The state and the canonical value that an item stands for.
    private func judge(_ item: ResponseItem, of question: Question) throws(ItemProblem) -> (AnswerState, JSONValue?) {
        let state = item.state ?? .answered
        guard state == .answered else {
            guard item.value == nil else {
                throw ItemProblem("value", "no_value", "There is no value where the state is not answered.")
            }
            try allow(state, for: question)
            return (state, nil)
        }
        guard let value = item.value else { throw ItemProblem("value", "required", "This is required.") }
        do throws(AnswerProblem) {
            return (.answered, try AnswerValidator(question: question, today: sheet.today).canonical(value))
        } catch {
            throw ItemProblem("value", error.code, error.message)
        }
    }

    private func allow(_ state: AnswerState, for question: Question) throws(ItemProblem) {
        switch state {
        case .skipped where !question.skippable:
            throw ItemProblem("state", "not_skippable", "This question cannot be skipped.")
        case .skipped where question.required:
            throw ItemProblem("state", "answer_required", "This question wants an answer.")
        case .skipped where sheet.answers[question.key]?.state == .answered && !sheet.stale.contains(question.key):
            throw ItemProblem("state", "has_value", "This question is answered already.")
        case .declined where !question.declinable:
            throw ItemProblem("state", "not_declinable", "This question cannot be declined.")
        case .acknowledged where question.required && question.isCounted:
            throw ItemProblem("state", "answer_required", "This question wants an answer.")
        default: break
        }
    }

    private mutating func write(_ judged: (state: AnswerState, value: JSONValue?), _ item: ResponseItem, at index: Int)
    {
        let current = sheet.answers[item.question]
        var answer = Answer(
            state: judged.state, value: judged.value, revision: (current?.revision ?? 0) + 1, changedAt: now)
        let isChange = current?.state != answer.state || current?.value != answer.value
        if !isChange, let current { answer = current }
        if isChange, let base = item.baseRevision, base != current?.revision ?? 0 {
            return conflicts.append(AnswerConflict(index: index, question: item.question, current: current))
        }
        let mutation = item.mutationId.map {
            RecordedMutation(
                id: $0, digest: RecordedMutation.digest(of: item), question: item.question, revision: answer.revision)
        }
        if let mutation { mutations[mutation.id] = mutation }
        if isChange { sheet.set(answer, for: item.question) }
        plan.revisions.append(AnswerRevision(question: item.question, revision: answer.revision))
        guard isChange || mutation != nil else { return }
        plan.writes.append(
            .init(
                question: item.question, answer: answer, changesAnswer: isChange, mutation: mutation,
                clientTime: item.clientTime))
    }

    private mutating func refuse(_ field: String, _ code: String, _ message: String) {
        invalid.append(.init(field: field, code: code, message: message))
    }

    mutating func finish() throws(ResponseRefusal) -> ResponsePlan {
        if !invalid.isEmpty { throw .invalid(invalid) }
        if !reused.isEmpty { throw .mutationReused(reused) }
        if !conflicts.isEmpty { throw .conflict(conflicts) }
        plan.answers = sheet.answers
        return plan
    }
}

/// What is wrong with one member of an item.
private struct ItemProblem: Error {
    var member: String
    var problem: AnswerProblem

    init(_ member: String, _ code: String, _ message: String) {
        (self.member, problem) = (member, AnswerProblem(code, message))
    }
}
