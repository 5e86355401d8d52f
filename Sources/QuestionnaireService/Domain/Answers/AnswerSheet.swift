import BusProtocol
import JSONText

/// One answer as it stands in a session.
struct Answer: Sendable, Equatable {
    /// `unanswered` of one that was taken back: its revisions go on.
    var state: AnswerState
    /// Canonical; `nil` unless the state is `answered`.
    var value: JSONValue?
    /// From 1.
    var revision: Int64
    var changedAt: Timestamp
    /// What the person calls the device that it was given on; `nil` where that was not said.
    var device: String?
    /// What the person wants of another's answer; its options are in the order of the definition.
    var preference: AnswerPreference?
    /// It was given to another version's question, and wants to be given again.
    var isStale = false
}

/// What keeps a session from being completed.
struct MissingAnswer: Sendable, Equatable {
    enum Reason: String, Sendable {
        case unanswered, stale
        case tooFewSubjects = "too_few_subjects"
        case tooManySubjects = "too_many_subjects"
    }

    /// Of subjects, the first question that each of them is asked.
    var question: String
    var subject: Identifier?
    var reason: Reason
}

/// Where a person goes on.
struct NextStep: Sendable, Equatable {
    enum Reason: String, Sendable {
        case unanswered, stale
        /// It is asked only since the write that this answers.
        case newlyVisible = "newly_visible"
        /// A section that repeats wants one more to be asked about.
        case subjectWanted = "subject_wanted"
    }

    var question: String
    var subject: Identifier?
    var reason: Reason
    /// Screens that only inform, between the question before and this one, and were not acknowledged yet.
    var before: [String] = []

    var key: String { AnswerPlace(question, of: subject).key }
}

/// A person's answers beside the definition that they are given to.
struct AnswerSheet: Sendable {
    /// One question as it is asked of this person and, in a section that repeats, about one subject: required or not, with
    /// the options offered.
    @dynamicMemberLookup struct Item: Sendable {
        /// Of the question, among the definition's.
        let place: Int
        let subject: Identifier?
        /// Of its ``AnswerPlace``.
        let key: String
        fileprivate let shared: SharedQuestion
        /// What was said; also where it is hidden.
        fileprivate(set) var answer: Answer?
        fileprivate(set) var required: Bool
        /// Those that are offered.
        fileprivate(set) var options: [Question.Option]
        /// It is not asked.
        fileprivate(set) var isHidden = false
        /// It is shown and has an answer that is none any more: an option in it is not offered now, or it was given to another
        /// version's question.
        fileprivate(set) var isStale = false

        fileprivate init(_ place: Int, _ subject: Identifier?, _ shared: SharedQuestion) {
            (self.place, self.subject, self.shared) = (place, subject, shared)
            key = AnswerPlace(shared.question.key, of: subject).key
            (required, options) = (shared.question.required, shared.question.options)
        }

        /// As it is asked of this person.
        var question: Question {
            var question = shared.question
            (question.required, question.options) = (required, options)
            return question
        }

        var questionKey: String { shared.question.key }

        /// What counts as an answer: of a shown question, and with options that are offered; or the default that counts for it.
        var effectiveValue: JSONValue? {
            guard !isHidden, !isStale else { return nil }
            return answer?.value ?? (isLeftToDefault ? shared.question.suggestion : nil)
        }

        /// Nothing was said, or that the default will do.
        var isLeftToDefault: Bool {
            guard shared.question.suggestionCounts else { return false }
            let state = answer?.state ?? .unanswered
            return state == .unanswered || state == .acknowledged
        }

        /// A question that became required after it was skipped wants an answer all the same. A default that counts is shown
        /// once, like everything else.
        fileprivate var isDealtWith: Bool {
            guard !isStale, let state = answer?.state, state != .unanswered else { return false }
            return !required || state == .answered || state == .declined && shared.question.declinable
                || state == .acknowledged && shared.question.suggestionCounts
        }

        var isCounted: Bool { shared.question.isCounted }

        fileprivate var isMissing: Bool { isCounted && required && !isDealtWith && !isLeftToDefault }

        fileprivate var isWaiting: Bool { isCounted && !isHidden && !isDealtWith }

        /// As conditions name it.
        fileprivate var state: String {
            if isHidden { return AnswerTest.hidden }
            return isStale ? AnswerTest.unanswered : answer?.state.rawValue ?? AnswerTest.unanswered
        }

        subscript<Value>(dynamicMember path: KeyPath<Question, Value>) -> Value { shared.question[keyPath: path] }
    }

    let definition: Definition
    /// In the order in which they are asked about.
    let subjects: [Subject]
    /// What the session is pinned to beside its definition, by name; `null`: not known.
    let facts: [String: JSONValue]
    /// The day that ages are counted on.
    let today: CivilDate
    /// By the place's key. Of hidden questions, too: they count again when they are shown again.
    private(set) var answers: [String: Answer]
    /// In document order, within a section that repeats by subject.
    private(set) var items: [Item]

    /// By section: its own among ``items``.
    private let ranges: [Range<Int>]
    /// By section.
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

    /// The same person's, with other answers.
    func with(_ answers: [String: Answer]) -> AnswerSheet {
        var sheet = self
        sheet.answers = answers
        sheet.resolve()
        return sheet
    }

    /// The same person's, asked about others.
    func with(_ subjects: [Subject]) -> AnswerSheet {
        AnswerSheet(definition: definition, answers: answers, subjects: subjects, facts: facts, today: today)
    }

    /// What a question stands for; `nil` where there is no such question, or no such subject.
    func item(at place: AnswerPlace) -> Item? {
        guard let index = definition.place(of: place.question) else { return nil }
        let number = definition.sectionOf[index]
        return items[ranges[number]].first { $0.place == index && $0.subject == place.subject }
    }

    /// Keys of what is not asked.
    var hidden: Set<String> { Set(items.lazy.filter(\.isHidden).map(\.key)) }

    /// Keys of what is shown and has an answer that is none any more.
    var stale: Set<String> { Set(items.lazy.filter(\.isStale).map(\.key)) }

    /// What is asked of this person.
    var visible: [Item] { items.filter { !$0.isHidden } }

    // MARK: How far it is

    /// How many subjects a section still wants, so that it has the fewest that it may have.
    private func wanted(by section: Int) -> Int {
        guard isShown[section], let repetition = definition.sections[section].repetition else { return 0 }
        return max(0, repetition.range.lowerBound - size(of: repetition))
    }

    private func size(of repetition: Definition.Section.Repetition) -> Int {
        subjects.count { $0.kind == repetition.subject }
    }

    /// Where to go on: the first, in document order, that nothing was done about.
    var next: NextStep? {
        for (number, range) in ranges.enumerated() {
            if let index = range.first(where: { items[$0].isWaiting }) {
                let item = items[index]
                return NextStep(
                    question: item.questionKey, subject: item.subject,
                    reason: item.isStale ? .stale : .unanswered, before: screens(before: index))
            }
            if wanted(by: number) > 0 {
                return NextStep(
                    question: first(in: number), subject: nil, reason: .subjectWanted,
                    before: screens(before: range.upperBound))
            }
        }
        return nil
    }

    /// The last of what was dealt with before ``next``; `nil`: nothing was.
    func lastCompleted(before next: NextStep?) -> AnswerPlace? {
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

    /// The question that a subject is named by, else the first that it is asked.
    private func first(in section: Int) -> String {
        let section = definition.sections[section]
        return section.repetition?.label ?? definition.questions[section.questions.lowerBound].key
    }

    /// What keeps the session from being completed: required questions that neither were answered nor, where one may,
    /// declined, answers that are none any more, and too few or too many subjects.
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

    /// Each subject that is still wanted counts as one thing that is not done.
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

    /// One pass: a condition looks at earlier questions only.
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

    /// What is not known at the root is not shown. Mutating, as what it asks, so that the tests have the sheet where it is: a
    /// copy of it for each condition is a tenth of what reading a session takes.
    ///
    /// - Parameter index: of the item that the condition is about.
    private mutating func holds(_ condition: Condition?, at index: Int?) -> Bool {
        guard let condition else { return true }
        return truth(of: condition, at: index) ?? false
    }

    private mutating func truth(of condition: Condition, at index: Int?) -> Bool? {
        condition.truth { test in
            switch test {
            case .answer(let test):
                // Where it lies, as everywhere that each item is looked at: a copy of it takes longer than the look.
                let place = self.index(of: test.question, seenFrom: index)
                return test.truth(state: items[place].state, value: items[place].effectiveValue, today: today)
            case .fact(let test): return test.truth(of: facts[test.fact], today: today)
            case .subjects(let test): return truth(of: test)
            }
        }
    }

    private mutating func truth(of test: SubjectsTest) -> Bool? {
        let (section, range) = (definition.sections[test.section], ranges[test.section])
        // The first item of each subject. Of a hidden section there are none that count.
        let end = isShown[test.section] ? range.upperBound : range.lowerBound
        let starts = stride(from: range.lowerBound, to: end, by: section.questions.count)
        switch test.rule {
        case .count(let rule):
            return rule.truth(of: .integer(Int64((end - range.lowerBound) / section.questions.count)), today: today)
        case .any(let condition): return Condition.joined(by: true, starts) { truth(of: condition, at: $0) }
        case .all(let condition): return Condition.joined(by: false, starts) { truth(of: condition, at: $0) }
        }
    }

    /// The item that a condition means by a question: in a section that repeats, that of the same subject.
    private mutating func index(of place: Int, seenFrom index: Int?) -> Int {
        let number = definition.sectionOf[place]
        let (questions, range) = (definition.sections[number].questions, ranges[number])
        let offset = place - questions.lowerBound
        // Where the section does not repeat, its items are its questions, each once.
        guard let index, range.contains(index) else { return range.lowerBound + offset }
        return index - (index - range.lowerBound) % questions.count + offset
    }
}

extension Question {
    fileprivate func takes(_ value: JSONValue, on today: CivilDate) -> Bool {
        (try? AnswerValidator(question: self, today: today).canonical(value)) != nil
    }
}
