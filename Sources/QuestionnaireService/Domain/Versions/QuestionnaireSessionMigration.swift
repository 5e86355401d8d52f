import BusProtocol
import JSONText

/// Moves the answers of a session to a newer version. It uses the keys of questions and options, and the migrations of
/// the versions in between. Only ages depend on the time, so a dry run gives the real result.
struct QuestionnaireSessionMigration: Sendable, Equatable {
    /// The places whose answer is valid in the new version, by their new keys.
    private(set) var kept: [String] = []
    /// The places whose answer is kept but asked for again.
    private(set) var stale: [String] = []
    /// The places whose question the new version lacks, by their old keys. Their answers are kept unchanged.
    private(set) var orphaned: [String] = []
    /// Questions that the old version did not have.
    private(set) var newQuestions: [String] = []
    /// The answers after the move, by place, including orphaned ones. The old place of a moved answer is unanswered.
    private(set) var answers: [String: Answer] = [:]

    /// The migration of a session that is pinned to the newest version already.
    init(unchanged sheet: AnswerSheet) {
        answers = sheet.answers
        for (key, answer) in answers.sorted(by: { $0.key < $1.key }) where answer.state != .unanswered {
            guard let place = AnswerPlace(key: key), sheet.item(at: place) != nil else {
                orphaned.append(key)
                continue
            }
            if answer.isStale { stale.append(key) } else { kept.append(key) }
        }
    }

    /// - Parameters:
    ///   - answers: by place.
    ///   - now: the time of the change. Ages are calculated on its day.
    init(of answers: [String: Answer], along path: QuestionnaireSessionMigrationPath, now: Timestamp) {
        newQuestions = path.newQuestions
        var left: [(key: String, answer: Answer)] = []
        for (key, answer) in answers.sorted(by: { $0.key < $1.key }) {
            guard let place = AnswerPlace(key: key), let carried = path.carry(answer, from: place, now: now)
            else {
                left.append((key, answer))
                continue
            }
            self.answers[carried.key] = carried.answer
            guard carried.answer.state != .unanswered else { continue }
            if carried.answer.isStale { stale.append(carried.key) } else { kept.append(carried.key) }
        }
        for (key, answer) in left {
            // If the new version has a question again that a version in between dropped, its answer is asked for again.
            var answer = answer
            let isBack = AnswerPlace(key: key).map(path.asks) ?? false
            answer.isStale = isBack && answer.state != .unanswered || answer.isStale
            // If another answer was moved to this place, that one counts. The history keeps this one.
            if self.answers[key] == nil { self.answers[key] = answer }
            guard answer.state != .unanswered else { continue }
            if isBack, self.answers[key] == answer { stale.append(key) } else { orphaned.append(key) }
        }
        self.answers.succeed(answers, at: now)
    }

    /// Marks more answers as stale.
    mutating func makeStale(_ keys: [String]) {
        for key in keys { answers[key]?.isStale = true }
        kept.removeAll { keys.contains($0) }
        stale = (stale + keys).sorted()
    }
}

extension [String: Answer] {
    /// Gives every changed answer the next revision of its place, so that no revision is used twice. A place that lost
    /// its answer keeps its count.
    fileprivate mutating func succeed(_ before: [String: Answer], at now: Timestamp) {
        for (key, old) in before {
            guard var answer = self[key] else {
                let isGone = old.state != .unanswered
                self[key] =
                    isGone ? Answer(state: .unanswered, value: nil, revision: old.revision + 1, changedAt: now) : old
                continue
            }
            let isSame =
                (answer.state, answer.value, answer.preference) == (old.state, old.value, old.preference)
            guard answer.revision < old.revision || answer.revision == old.revision && !isSame else { continue }
            answer.revision = isSame ? old.revision : old.revision + 1
            if !isSame { answer.changedAt = now }
            self[key] = answer
        }
    }
}

/// The versions from an old one to a new one. All sessions that move between the two share it.
struct QuestionnaireSessionMigrationPath: Sendable {
    private let old: [String: DefinitionFile.Question]
    /// The migrations of each version on the path.
    private let maps: [DefinitionMigrations]
    /// The keys of the questions of each version on the path.
    private let keys: [Set<String>]
    private let new: Definition
    /// The revisions of the new version's questions.
    private let revisions: [String: Int]
    /// For each question of the old version, its key in the new one.
    private var destinations: [String: String] = [:]
    /// Questions that the old version did not have.
    private(set) var newQuestions: [String] = []

    /// - Parameters:
    ///   - old: the version that sessions are pinned to.
    ///   - steps: every version after it up to the new one, in order.
    ///   - new: the last of the steps.
    init(from old: DefinitionFile, through steps: [DefinitionFile], to new: Definition) {
        func questions(_ file: DefinitionFile) -> [String: DefinitionFile.Question] {
            Dictionary(
                file.sections.flatMap(\.questions).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        }
        (self.old, self.new) = (questions(old), new)
        maps = steps.map { DefinitionMigrations($0.migrations ?? []) }
        keys = steps.map { Set(questions($0).keys) }
        revisions = steps.last.map { questions($0).mapValues { $0.meaningRev ?? 1 } } ?? [:]
        for key in self.old.keys { destinations[key] = destination(of: key) }
        let known = Set(destinations.values)
        newQuestions = new.questions.map(\.key).filter { !known.contains($0) && self.old[$0] == nil }
    }

    /// The key of a question in the new version; `nil` if the question is gone.
    private func destination(of question: String) -> String? {
        var key = question
        for (map, keys) in zip(maps, keys) {
            guard !map.dropped.contains(key) else { return nil }
            key = map.renamed[key] ?? key
            guard keys.contains(key) else { return nil }
        }
        return key
    }

    /// Whether the new version has a question at this place.
    func asks(_ place: AnswerPlace) -> Bool {
        guard let index = new.place(of: place.question) else { return false }
        return (new.sections[new.sectionOf[index]].repetition != nil) == (place.subject != nil)
    }

    /// Moves one answer.
    ///
    /// - Returns: `nil` if the new version or one on the path does not have the question.
    func carry(_ answer: Answer, from place: AnswerPlace, now: Timestamp) -> (key: String, answer: Answer)? {
        guard let before = old[place.question], let key = destinations[place.question],
            let index = new.place(of: key), asks(AnswerPlace(key, of: place.subject))
        else { return nil }
        let question = new.questions[index]
        var (carried, name, isConverted) = (answer, place.question, false)
        for map in maps {
            name = map.renamed[name] ?? name
            carried.value = carried.value.map { value in map.options[name].map { Self.replace($0, in: value) } ?? value
            }
            if let options = map.options[name], let wanted = carried.preference {
                carried.preference?.acceptable = wanted.acceptable.map { options[$0] ?? $0 }
            }
            if let rule = map.conversions[name] {
                // A skipped or declined question stays so. Only a value is converted.
                carried.value = carried.value.flatMap(rule.convert)
                isConverted = true
            }
        }
        let isSameKind = before.type == question.kind.rawValue || isConverted
        let isSameMeaning = (before.meaningRev ?? 1) >= (revisions[key] ?? 1)
        let canonical = carried.value.flatMap {
            try? AnswerValidator(question: question, today: now.date).canonical($0)
        }
        carried.isStale =
            answer.state != .unanswered
            && (answer.isStale || !isSameKind || !isSameMeaning
                || !question.takes(answer.state, hasValue: canonical != nil))
        // A stale answer keeps the value that the person gave.
        carried.value = carried.isStale ? answer.value : canonical
        carried.preference = carried.isStale ? answer.preference : carried.preference.flatMap(question.carried)
        if (carried.value, carried.preference) != (answer.value, answer.preference) {
            (carried.revision, carried.changedAt) = (answer.revision + 1, now)
        }
        return (AnswerPlace(key, of: place.subject).key, carried)
    }

    /// Replaces the keys of options in a choice.
    private static func replace(_ map: [String: String], in value: JSONValue) -> JSONValue {
        switch value {
        case .string(let key): return .string(map[key] ?? key)
        case .array(let elements):
            var found: [JSONValue] = []
            // If two chosen options became one, it is chosen once.
            for element in elements.map({ replace(map, in: $0) }) where !found.contains(element) {
                found.append(element)
            }
            return .array(found)
        default: return value
        }
    }
}

extension Question {
    /// Whether the question allows an answer in this state.
    fileprivate func takes(_ state: AnswerState, hasValue: Bool) -> Bool {
        switch state {
        case .answered: hasValue
        case .skipped: skippable
        case .declined: declinable
        case .acknowledged: !required || !isCounted || suggestionCounts
        default: true
        }
    }
}

/// The answers before a session was moved, so that the move can be undone.
struct QuestionnaireSessionMigrationRecord: Sendable, Equatable {
    /// The former answers of changed places; `nil` if there was no answer.
    var before: [String: Answer?]

    init(before: [String: Answer?]) { self.before = before }

    init(_ migration: QuestionnaireSessionMigration, of answers: [String: Answer]) {
        before = [:]
        for key in Set(answers.keys).union(migration.answers.keys) where answers[key] != migration.answers[key] {
            before[key] = .some(answers[key])
        }
    }

    /// The answers with the move undone. A restored answer gets a new revision, since revisions never go back.
    func restored(over current: [String: Answer], now: Timestamp) -> [String: Answer] {
        var answers = current
        for (key, old) in before { answers[key] = old }
        answers.succeed(current, at: now)
        return answers
    }
}
