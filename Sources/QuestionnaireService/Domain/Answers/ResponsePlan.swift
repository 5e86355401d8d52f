import BusProtocol
import Cryptography
import JSONText

/// The changes of a session by the answers of a request. It is made before anything is written.
struct ResponsePlan: Sendable, Equatable {
    /// One row to write: a changed answer, a mutation to remember, or both.
    struct Write: Sendable, Equatable {
        /// The key of the answer's ``AnswerPlace``.
        var key: String
        var answer: Answer
        /// `false` if the answer does not change and only the mutation is stored.
        var changesAnswer: Bool
        var mutation: RecordedMutation?
        var clientTime: Timestamp?
        /// For the first answer to a question: the time of the session's change before it. `nil` if there is none.
        var since: Timestamp?
    }

    /// The answers after the changes, by the keys of their places.
    var answers: [String: Answer]
    var writes: [Write] = []
    /// The outcome of each item, in order.
    var outcomes: [ItemOutcome] = []
    /// The new values that the answers give to fields of the profile.
    var profile = ProfileAnswerChange()

    var changesAnswers: Bool { writes.contains(where: \.changesAnswer) }

    /// The revisions of the answers of all saved items.
    var revisions: [AnswerRevision] { outcomes.compactMap(\.revision) }

    /// Applies the items in order, each after the ones before it. An item that cannot be saved does not stop the
    /// others.
    ///
    /// - Parameters:
    ///   - mutations: the stored mutations with the ids in the items.
    ///   - now: the time of the change, by the database's clock.
    ///   - verdicts: profile's verdicts on answers to its fields.
    static func each(
        _ items: [ResponseItem], on sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp,
        verdicts: ProfileVerdicts = ProfileVerdicts()
    ) -> ResponsePlan {
        var planner = ResponsePlanner(sheet: sheet, mutations: mutations, now: now, verdicts: verdicts)
        for item in items { planner.take(item) }
        return planner.finished(since: sheet)
    }

    /// Like ``each(_:on:mutations:now:verdicts:)``, but applies all items or none.
    ///
    /// - Throws: all problems of the gravest kind. In order, these are invalid items, refusals of profile, reused ids,
    ///   and conflicts.
    static func make(
        _ items: [ResponseItem], on sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp,
        verdicts: ProfileVerdicts = ProfileVerdicts()
    ) throws(ResponseRefusal) -> ResponsePlan {
        let plan = each(items, on: sheet, mutations: mutations, now: now, verdicts: verdicts)
        var (invalid, reused) = ([BusError.FieldProblem](), [BusError.FieldProblem]())
        var (conflicts, refusals): ([AnswerConflict], [BusError]) = ([], [])
        for (index, outcome) in plan.outcomes.enumerated() {
            switch outcome {
            case .saved: break
            case .invalid(let problem):
                invalid.append(
                    .init(field: "answers.\(index).\(problem.field)", code: problem.code, message: problem.message))
            case .refused(let error): refusals.append(error)
            case .reused: reused.append(ItemOutcome.reuse(at: "answers.\(index).mutationId"))
            case .conflict(let current):
                conflicts.append(AnswerConflict(index: index, question: items[index].question, current: current))
            }
        }
        if !invalid.isEmpty { throw .invalid(invalid) }
        if let refusal = refusals.first { throw .refused(refusal) }
        if !reused.isEmpty { throw .mutationReused(reused) }
        if !conflicts.isEmpty { throw .conflict(conflicts) }
        return plan
    }
}

/// The outcome of one item.
enum ItemOutcome: Sendable, Equatable {
    /// The item is saved, now or by an earlier request.
    case saved(AnswerRevision)
    /// The item is invalid. The problem's field is a member of the item.
    case invalid(BusError.FieldProblem)
    /// The rules of the profile refuse the answer.
    case refused(BusError)
    /// The mutation id belongs to another write.
    case reused
    /// Another device changed the answer in the meantime. The value is the present answer, if there is one.
    case conflict(Answer?)

    var revision: AnswerRevision? { if case .saved(let revision) = self { revision } else { nil } }

    static func reuse(at field: String) -> BusError.FieldProblem {
        .init(field: field, code: ErrorCode.mutationIDReused.name, message: "This id was used for another write.")
    }
}

/// A stored write with a client's mutation id. A repeat is answered from it and not done again.
struct RecordedMutation: Sendable, Equatable {
    var id: Identifier
    /// SHA-256 of the item in canonical form.
    var digest: [UInt8]
    /// The key of the answer's ``AnswerPlace``.
    var key: String
    /// The revision of the answer after the write.
    var revision: Int64
    /// The reply; `nil` if the write was one of several.
    var reply: JSONValue?

    /// The digest of the item's canonical JSON, which is the same in replicas of two releases.
    static func digest(of item: ResponseItem) -> [UInt8] {
        SHA256.digest(item.jsonBytes)
    }
}

private struct ResponsePlanner {
    var sheet: AnswerSheet
    var mutations: [Identifier: RecordedMutation]
    let now: Timestamp
    let verdicts: ProfileVerdicts
    var plan: ResponsePlan

    init(sheet: AnswerSheet, mutations: [RecordedMutation], now: Timestamp, verdicts: ProfileVerdicts) {
        (self.sheet, self.verdicts) = (sheet, verdicts)
        self.mutations = Dictionary(mutations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.now = now
        plan = ResponsePlan(answers: sheet.answers)
    }

    mutating func take(_ item: ResponseItem) { plan.outcomes.append(outcome(of: item)) }

    /// The plan, once all items were taken.
    func finished(since before: AnswerSheet) -> ResponsePlan {
        var plan = plan
        let (after, change) =
            plan.changesAnswers ? sheet.judged(since: before, verdicts) : (sheet, ProfileAnswerChange())
        plan.answers = after.answers
        plan.profile.fields = change.fields
        plan.profile.refused = change.refused
        plan.profile.unjudged += change.unjudged.filter { !plan.profile.unjudged.contains($0) }
        return plan
    }

    /// Profile's verdict on an answer. An answer that profile has not judged counts as accepted for now.
    private mutating func verdict(on answer: ProfileExtract) -> ProfileVerdicts.Verdict {
        if let known = verdicts[answer] { return known }
        if !plan.profile.unjudged.contains(answer) { plan.profile.unjudged.append(answer) }
        return .taken
    }

    /// Why profile refuses a changed answer; `nil` if it does not, or if the answer fills no field.
    private mutating func refusal(of answer: Answer, to asked: AnswerSheet.Item) -> ItemOutcome? {
        guard let field = asked.profileField, let value = Extraction.value(of: answer, asked.kind) else { return nil }
        switch verdict(on: ProfileExtract(field: field, value: value)) {
        case .taken: return nil
        case .refused(let error): return .refused(error)
        case .invalid(let code, let message):
            let member = answer.state == .answered ? "value" : "state"
            return .invalid(.init(field: member, code: code, message: message))
        }
    }

    private mutating func outcome(of item: ResponseItem) -> ItemOutcome {
        if let id = item.mutationId, let known = mutations[id] {
            guard known.digest == RecordedMutation.digest(of: item) else { return .reused }
            return .saved(AnswerRevision(AnswerPlace(item.question, of: item.subject), known.revision))
        }
        let place = AnswerPlace(item.question, of: item.subject)
        // The item is judged after the items before it. An answer to a hidden question is stored, since the question
        // may be shown later.
        guard let asked = sheet.item(at: place) else { return stranger(place) }
        do throws(ItemProblem) {
            return write(try judge(item, of: asked), item, to: asked)
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
            ? "Say whom this answer is about. An app first adds a subject by PUT …/subjects/ID, and sends the ID as “subject”."
            : "This question is not asked about a subject with this id."
        return .invalid(.init(field: "subject", code: "unknown_subject", message: message))
    }

    /// The state, the canonical value, the device's name and the preference of an item.
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
            throw ItemProblem(
                "preference", "not_allowed", "You can say what you want of others only together with an answer.")
        }
        do throws(AnswerProblem) {
            // All options are allowed here, since another person may be offered options that this one is not.
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
                throw ItemProblem("value", "no_value", "A value is allowed only if the state is answered.")
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

    private mutating func write(_ judged: Judged, _ item: ResponseItem, to asked: AnswerSheet.Item) -> ItemOutcome {
        let key = asked.key
        let current = sheet.answers[key]
        var answer = Answer(
            state: judged.state, value: judged.value, revision: (current?.revision ?? 0) + 1, changedAt: now,
            device: judged.device, preference: judged.preference)
        // Giving a stale answer again makes it an answer to this version.
        let isChange =
            (current?.state ?? .unanswered) != answer.state || current?.value != answer.value
            || current?.preference != answer.preference || current?.isStale == true
        if !isChange {
            answer = current ?? Answer(state: .unanswered, value: nil, revision: 0, changedAt: now)
        }
        // A forced write may replace an answer that it did not start from. The history keeps that answer.
        if isChange, item.force != true, let base = item.baseRevision, base != current?.revision ?? 0 {
            return .conflict(current)
        }
        if isChange, let refusal = refusal(of: answer, to: asked) { return refusal }
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

/// The content of a valid item.
private struct Judged {
    var state: AnswerState
    /// In canonical form.
    var value: JSONValue?
    var device: String?
    var preference: AnswerPreference?
}

/// A problem with one member of an item.
private struct ItemProblem: Error {
    var member: String
    var problem: AnswerProblem

    init(_ member: String, _ code: String, _ message: String) {
        (self.member, problem) = (member, AnswerProblem(code, message))
    }
}
