import BusProtocol
import JSONText

/// What becomes of a session's answers in a newer version: they go by the keys of questions and options, and by what the
/// versions in between say of them. Nothing is asked of the clock but ages, so that a dry run is the real one.
struct SessionMigration: Sendable, Equatable {
    /// Places whose answer is one in the new version, too, by their new keys.
    private(set) var kept: [String] = []
    /// Places whose answer is kept and asked for again.
    private(set) var stale: [String] = []
    /// Places, by their old keys, whose question the new version does not have; the answers are kept as they are.
    private(set) var orphaned: [String] = []
    /// Questions that the old version did not have.
    private(set) var newQuestions: [String] = []
    /// The answers afterwards, by place, the orphaned among them; where one moved away, that there is none any more.
    private(set) var answers: [String: Answer] = [:]

    /// Of a session that is pinned to the newest version already.
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
    ///   - now: when what changes is changed; ages are counted on its day.
    init(of answers: [String: Answer], along path: SessionMigrationPath, now: Timestamp) {
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
            // A version that goes back to an older one asks again what was not asked in between.
            var answer = answer
            let isBack = AnswerPlace(key: key).map(path.asks) ?? false
            answer.isStale = isBack && answer.state != .unanswered || answer.isStale
            // What took its place is the answer; this one is in the history.
            if self.answers[key] == nil { self.answers[key] = answer }
            guard answer.state != .unanswered else { continue }
            if isBack, self.answers[key] == answer { stale.append(key) } else { orphaned.append(key) }
        }
        self.answers.succeed(answers, at: now)
    }
}

extension [String: Answer] {
    /// No revision of a place comes twice, whatever was there meanwhile: what is another answer than before gets the next one,
    /// and a place that lost its answer keeps its count.
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

/// The way from one version to another; the same for every session that goes it.
struct SessionMigrationPath: Sendable {
    private let old: [String: DefinitionFile.Question]
    /// What each version on the way says of the answers to the one before it.
    private let maps: [DefinitionMigrations]
    /// By version on the way: the keys of its questions.
    private let keys: [Set<String>]
    private let new: Definition
    /// Of the new version, by question.
    private let revisions: [String: Int]
    /// By question of the old version: what it is in the new one.
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

    /// What a question is called in the new version; `nil` where it is not there any more.
    private func destination(of question: String) -> String? {
        var key = question
        for (map, keys) in zip(maps, keys) {
            guard !map.dropped.contains(key) else { return nil }
            key = map.renamed[key] ?? key
            guard keys.contains(key) else { return nil }
        }
        return key
    }

    /// Whether the new version has a question of this key, for a subject or for none.
    func asks(_ place: AnswerPlace) -> Bool {
        guard let index = new.place(of: place.question) else { return false }
        return (new.sections[new.sectionOf[index]].repetition != nil) == (place.subject != nil)
    }

    /// - Returns: `nil` where nothing in the new version asks for it, or something on the way did not.
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
                // What was skipped or declined stays so: the question is the same.
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
        // What is asked again is kept as the person gave it.
        carried.value = carried.isStale ? answer.value : canonical
        carried.preference = carried.isStale ? answer.preference : carried.preference.flatMap(question.carried)
        if (carried.value, carried.preference) != (answer.value, answer.preference) {
            (carried.revision, carried.changedAt) = (answer.revision + 1, now)
        }
        return (AnswerPlace(key, of: place.subject).key, carried)
    }

    /// An option's key is replaced wherever it stands in a choice.
    private static func replace(_ map: [String: String], in value: JSONValue) -> JSONValue {
        switch value {
        case .string(let key): return .string(map[key] ?? key)
        case .array(let elements):
            var found: [JSONValue] = []
            // Two options that became one are chosen once.
            for element in elements.map({ replace(map, in: $0) }) where !found.contains(element) {
                found.append(element)
            }
            return .array(found)
        default: return value
        }
    }
}

extension Question {
    /// Whether an answer in this state can stand.
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

/// What was there before a session was moved, so that it can be taken back.
struct SessionMigrationRecord: Sendable, Equatable {
    /// Of the places that were changed; `nil`: there was no answer.
    var before: [String: Answer?]

    init(before: [String: Answer?]) { self.before = before }

    init(_ migration: SessionMigration, of answers: [String: Answer]) {
        before = [:]
        for key in Set(answers.keys).union(migration.answers.keys) where answers[key] != migration.answers[key] {
            before[key] = .some(answers[key])
        }
    }

    /// The answers as they were. Revisions never go back: what was changed in its place is changed once more.
    func restored(over current: [String: Answer], now: Timestamp) -> [String: Answer] {
        var answers = current
        for (key, old) in before { answers[key] = old }
        answers.succeed(current, at: now)
        return answers
    }
}
