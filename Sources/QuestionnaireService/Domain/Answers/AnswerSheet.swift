import BusProtocol
import JSONText

/// The present answer to a question in a session.
struct Answer: Sendable, Equatable {
    /// `unanswered` for an answer that was withdrawn. Its revisions go on.
    var state: AnswerState
    /// In canonical form; `nil` unless the state is `answered`.
    var value: JSONValue?
    /// From 1.
    var revision: Int64
    var changedAt: Timestamp
    /// The person's name for the device on which it was given; `nil` if unknown.
    var device: String?
    /// The answers that the person accepts from others. The options are in the order of the definition.
    var preference: AnswerPreference?
    /// Whether it was given to another version of the question and must be given again.
    var isStale = false
}

/// A reason why a session cannot be completed.
struct MissingAnswer: Sendable, Equatable {
    enum Reason: String, Sendable {
        case unanswered, stale
        case tooFewSubjects = "too_few_subjects"
        case tooManySubjects = "too_many_subjects"
    }

    /// For too few or too many subjects: the first question about each of them.
    var question: String
    var subject: Identifier?
    var reason: Reason
}

/// The next question of a person.
struct NextPlace: Sendable, Equatable {
    enum Reason: String, Sendable {
        case unanswered, stale
        /// The question became visible by the present write.
        case newlyVisible = "newly_visible"
        /// A repeated section needs one more subject.
        case subjectWanted = "subject_wanted"
    }

    var question: String
    var subject: Identifier?
    var reason: Reason
    /// The info screens directly before this question that were not acknowledged yet.
    var before: [String] = []

    var key: String { AnswerPlace(question, of: subject).key }
}

/// A definition with a person's answers to it.
struct AnswerSheet: Sendable {
    /// One question for this person and, in a repeated section, about one subject. The conditions decide its `required`
    /// and `options` for this person.
    @dynamicMemberLookup struct Item: Sendable {
        /// The index of the question in the definition.
        let place: Int
        let subject: Identifier?
        /// The key of its ``AnswerPlace``.
        let key: String
        fileprivate let shared: SharedQuestion
        /// The answer, also of a hidden question.
        fileprivate(set) var answer: Answer?
        fileprivate(set) var required: Bool
        /// The options that are offered to this person.
        fileprivate(set) var options: [Question.Option]
        /// Whether the question is not asked.
        fileprivate(set) var isHidden = false
        /// Whether the question is shown but its answer is no longer valid. That is so if it has an option that is not
        /// offered now. It is also so if it was given to another version of the question.
        fileprivate(set) var isStale = false

        fileprivate init(_ place: Int, _ subject: Identifier?, _ shared: SharedQuestion) {
            (self.place, self.subject, self.shared) = (place, subject, shared)
            key = AnswerPlace(shared.question.key, of: subject).key
            (required, options) = (shared.question.required, shared.question.options)
        }

        /// The question with `required` and `options` for this person.
        var question: Question {
            var question = shared.question
            (question.required, question.options) = (required, options)
            return question
        }

        var questionKey: String { shared.question.key }

        /// The value that counts: of a question that is shown and not stale. Without an answer, it is the default if
        /// that counts.
        var effectiveValue: JSONValue? {
            guard !isHidden, !isStale else { return nil }
            return answer?.value ?? (isLeftToDefault ? shared.question.suggestion : nil)
        }

        /// Whether a default counts as the answer, since the person gave none or acknowledged the default.
        var isLeftToDefault: Bool {
            guard shared.question.suggestionCounts else { return false }
            let state = answer?.state ?? .unanswered
            return state == .unanswered || state == .acknowledged
        }

        /// Whether nothing more is needed for the question. If it became required after it was skipped, it needs an
        /// answer. A default that counts is shown once, like every question.
        fileprivate var isDealtWith: Bool {
            guard !isStale, let state = answer?.state, state != .unanswered else { return false }
            return !required || state == .answered || state == .declined && shared.question.declinable
                || state == .acknowledged && shared.question.suggestionCounts
        }

        var isCounted: Bool { shared.question.isCounted }

        fileprivate var isMissing: Bool { isCounted && required && !isDealtWith && !isLeftToDefault }

        fileprivate var isWaiting: Bool { isCounted && !isHidden && !isDealtWith }

        /// The state's name in conditions.
        fileprivate var state: String {
            if isHidden { return AnswerTest.hidden }
            return isStale ? AnswerTest.unanswered : answer?.state.rawValue ?? AnswerTest.unanswered
        }

        subscript<Value>(dynamicMember path: KeyPath<Question, Value>) -> Value { shared.question[keyPath: path] }
    }

    let definition: Definition
    /// The subjects in the order in which they are asked about.
    let subjects: [Subject]
    /// The facts that the session keeps, by name; `null` means unknown.
    let facts: [String: JSONValue]
    /// The day on which ages are calculated.
    let today: CivilDate
    /// The answers by the key of their place. Those of hidden questions count again when the question is shown again.
    private(set) var answers: [String: Answer]
    /// The items in document order; in a repeated section, subject by subject.
    private(set) var items: [Item]

    /// For each section, the range of its ``items``.
    private let ranges: [Range<Int>]
    /// For each section, whether it is shown.
    private var isShown: [Bool]

    init(
        definition: Definition, answers: [String: Answer], subjects: [Subject] = [], facts: [String: JSONValue] = [:],
        today: CivilDate
    ) {
        (self.definition, self.answers, self.subjects) = (definition, answers, subjects)
        (self.facts, self.today) = (facts, today)
        var (items, ranges): ([Item], [Range<Int>]) = ([], [])
        for section in definition.sections {
            let start = items.count
            let asked: [Identifier?] =
                section.repetition.map { kind in subjects.filter { $0.kind == kind.subject }.map(\.id) } ?? [nil]
            for subject in asked {
                for place in section.questions {
                    items.append(Item(place, subject, definition.shared[place]))
                }
            }
            ranges.append(start..<items.count)
        }
        (self.items, self.ranges) = (items, ranges)
        isShown = Array(repeating: true, count: ranges.count)
        resolve()
    }

    mutating func set(_ answer: Answer, for key: String) {
        answers[key] = answer
        resolve()
    }

    /// Marks an answer as stale, so that its question is asked again.
    mutating func makeStale(_ key: String) {
        answers[key]?.isStale = true
        resolve()
    }

    /// The sheet of the same person with other answers.
    func with(_ answers: [String: Answer]) -> AnswerSheet {
        var sheet = self
        sheet.answers = answers
        sheet.resolve()
        return sheet
    }

    /// The sheet of the same person with other subjects.
    func with(_ subjects: [Subject]) -> AnswerSheet {
        AnswerSheet(definition: definition, answers: answers, subjects: subjects, facts: facts, today: today)
    }

    /// The item at a place; `nil` if there is no such question or subject.
    func item(at place: AnswerPlace) -> Item? {
        guard let index = definition.place(of: place.question) else { return nil }
        let number = definition.sectionOf[index]
        return items[ranges[number]].first { $0.place == index && $0.subject == place.subject }
    }

    /// The keys of hidden items.
    var hidden: Set<String> { Set(items.lazy.filter(\.isHidden).map(\.key)) }

    /// The keys of stale items.
    var stale: Set<String> { Set(items.lazy.filter(\.isStale).map(\.key)) }

    /// The items that this person is asked.
    var visible: [Item] { items.filter { !$0.isHidden } }

    /// A section with the questions that are asked in it.
    struct Part: Sendable {
        let items: ArraySlice<Item>
        /// Set if the section lacks subjects.
        let wanted: WantedSubject?
    }

    struct WantedSubject: Sendable {
        /// The section's name for its subjects.
        let subject: String
        /// The index of the question that names the next subject or, if none does, of the first one about it.
        let question: Int
        /// Whether the question's answer names the subject.
        let isLabel: Bool
    }

    /// The sections in order.
    var parts: [Part] {
        ranges.indices.map { number in
            guard wanted(by: number) > 0, let repetition = definition.sections[number].repetition else {
                return Part(items: items[ranges[number]], wanted: nil)
            }
            return Part(
                items: items[ranges[number]],
                wanted: WantedSubject(
                    subject: repetition.subject,
                    question: definition.place(of: first(in: number))
                        ?? definition.sections[number].questions.lowerBound,
                    isLabel: repetition.label != nil))
        }
    }

    // MARK: How far it is

    /// How many subjects a section lacks to reach its minimum.
    private func wanted(by section: Int) -> Int {
        guard isShown[section], let repetition = definition.sections[section].repetition else { return 0 }
        return max(0, repetition.range.lowerBound - size(of: repetition))
    }

    private func size(of repetition: Definition.Section.Repetition) -> Int {
        subjects.count { $0.kind == repetition.subject }
    }

    /// The first question, in document order, that still needs something.
    var next: NextPlace? {
        for (number, range) in ranges.enumerated() {
            if let index = range.first(where: { items[$0].isWaiting }) {
                let item = items[index]
                return NextPlace(
                    question: item.questionKey, subject: item.subject,
                    reason: item.isStale ? .stale : .unanswered, before: screens(before: index))
            }
            if wanted(by: number) > 0 {
                return NextPlace(
                    question: first(in: number), subject: nil, reason: .subjectWanted,
                    before: screens(before: range.upperBound))
            }
        }
        return nil
    }

    /// The screens behind the last question that are not acknowledged yet, if nothing is left to answer.
    func closing(where next: NextPlace?) -> [String] { next == nil ? screens(before: items.endIndex) : [] }

    /// The last question before ``next`` that needs nothing more; `nil` if there is none.
    func lastCompleted(before next: NextPlace?) -> AnswerPlace? {
        let key = next?.key
        let end = items.firstIndex { $0.key == key } ?? items.endIndex
        let last = items[..<end].last { $0.isCounted && !$0.isHidden && $0.isDealtWith }
        return last.map { AnswerPlace($0.questionKey, of: $0.subject) }
    }

    private func screens(before index: Int) -> [String] {
        var keys: [String] = []
        for index in items[..<index].indices.reversed() where !items[index].isHidden {
            if items[index].isCounted { break }
            if !items[index].isDealtWith { keys.append(items[index].key) }
        }
        return keys.reversed()
    }

    /// The question whose answer names the subject, or else the first question about it.
    private func first(in section: Int) -> String {
        let section = definition.sections[section]
        return section.repetition?.label ?? definition.questions[section.questions.lowerBound].key
    }

    /// The reasons why the session cannot be completed: required questions without an answer, stale answers, and too
    /// few or too many subjects. A question that the person declined does not count, if it may be declined.
    var missing: [MissingAnswer] {
        var found: [MissingAnswer] = []
        for (number, range) in ranges.enumerated() {
            for index in range where !items[index].isHidden {
                let reason: MissingAnswer.Reason? =
                    items[index].isStale ? .stale : items[index].isMissing ? .unanswered : nil
                guard let reason else { continue }
                found.append(
                    MissingAnswer(
                        question: items[index].questionKey, subject: items[index].subject, reason: reason))
            }
            guard isShown[number], let repetition = definition.sections[number].repetition else { continue }
            let count = size(of: repetition)
            if count < repetition.range.lowerBound {
                found.append(MissingAnswer(question: first(in: number), reason: .tooFewSubjects))
            } else if count > repetition.range.upperBound {
                found.append(MissingAnswer(question: first(in: number), reason: .tooManySubjects))
            }
        }
        return found
    }

    /// The progress. Each subject that is still needed counts as one question without an answer.
    var progress: QuestionnaireProgress {
        var (answered, total, missing) = (0, 0, 0)
        for index in items.indices where items[index].isCounted && !items[index].isHidden {
            total += 1
            if items[index].isDealtWith { answered += 1 } else if items[index].isMissing { missing += 1 }
        }
        let still = ranges.indices.reduce(0) { $0 + wanted(by: $1) }
        (total, missing) = (total + still, missing + still)
        return QuestionnaireProgress(
            answered: Int64(answered), total: Int64(total), requiredRemaining: Int64(missing),
            percentage: total == 0 ? 100 : Int64(answered * 100 / total))
    }

    // MARK: Conditions

    /// Evaluates all conditions. One pass is enough, since a condition looks only at earlier questions.
    private mutating func resolve() {
        guard definition.hasConditions else {
            for index in items.indices {
                items[index].answer = answers[items[index].key]
                items[index].isStale = items[index].answer?.isStale == true
            }
            return
        }
        for (number, section) in definition.sections.enumerated() {
            isShown[number] = holds(section.visibleIf, at: nil)
            for index in ranges[number] { resolve(index, inShown: isShown[number]) }
        }
    }

    private mutating func resolve(_ index: Int, inShown isSectionShown: Bool) {
        let (answer, shared) = (answers[items[index].key], items[index].shared)
        items[index].answer = answer
        let isAsked = isSectionShown && holds(shared.question.visibleIf, at: index)
        (items[index].isHidden, items[index].isStale) = (!isAsked, isAsked && answer?.isStale == true)
        guard isAsked else {
            (items[index].required, items[index].options) = (shared.question.required, shared.question.options)
            return
        }
        items[index].required =
            shared.question.required
            || shared.question.requiredIf != nil && holds(shared.question.requiredIf, at: index)
        guard shared.question.hasConditionalOptions else { return }
        items[index].options = shared.question.options.filter { holds($0.visibleIf, at: index) }
        if let value = answer?.value, !items[index].question.takes(value, on: today) { items[index].isStale = true }
    }

    /// Whether a condition holds. An unknown result counts as `false`.
    ///
    /// It is `mutating` so that the tests use the sheet in place. Copying it for each condition took a tenth of the
    /// time of reading a session.
    ///
    /// - Parameter index: of the item to which the condition belongs.
    private mutating func holds(_ condition: Condition?, at index: Int?) -> Bool {
        guard let condition else { return true }
        return truth(of: condition, at: index) ?? false
    }

    private mutating func truth(of condition: Condition, at index: Int?) -> Bool? {
        condition.truth { test in
            switch test {
            case .answer(let test):
                // This uses the item in place, since copying it takes longer than the test.
                let place = self.index(of: test.question, seenFrom: index)
                return test.truth(state: items[place].state, value: items[place].effectiveValue, today: today)
            case .fact(let test): return test.truth(of: facts[test.fact], today: today)
            case .subjects(let test): return truth(of: test)
            }
        }
    }

    private mutating func truth(of test: SubjectsTest) -> Bool? {
        let (section, range) = (definition.sections[test.section], ranges[test.section])
        // The first item of each subject. A hidden section has no subjects that count.
        let end = isShown[test.section] ? range.upperBound : range.lowerBound
        let starts = stride(from: range.lowerBound, to: end, by: section.questions.count)
        switch test.rule {
        case .count(let rule):
            return rule.truth(of: .integer(Int64((end - range.lowerBound) / section.questions.count)), today: today)
        case .any(let condition): return Condition.joined(by: true, starts) { truth(of: condition, at: $0) }
        case .all(let condition): return Condition.joined(by: false, starts) { truth(of: condition, at: $0) }
        }
    }

    /// The index of the item that a condition means by a question. In a repeated section, it is that of the same
    /// subject.
    private mutating func index(of place: Int, seenFrom index: Int?) -> Int {
        let number = definition.sectionOf[place]
        let (questions, range) = (definition.sections[number].questions, ranges[number])
        let offset = place - questions.lowerBound
        // A section that is not repeated has one item for each question.
        guard let index, range.contains(index) else { return range.lowerBound + offset }
        return index - (index - range.lowerBound) % questions.count + offset
    }
}

extension Question {
    fileprivate func takes(_ value: JSONValue, on today: CivilDate) -> Bool {
        (try? AnswerValidator(question: self, today: today).canonical(value)) != nil
    }
}
