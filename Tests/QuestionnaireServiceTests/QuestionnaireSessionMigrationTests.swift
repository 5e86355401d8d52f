import BusProtocol
import JSONText
import Testing

@testable import QuestionnaireService

/// Random sessions over random pairs of versions. The test derives what must become of each answer from its own edits
/// of the questions, without code of the service.
@Suite("migration of questionnaire sessions") struct QuestionnaireSessionMigrationTests {
    private static let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)

    @Test(arguments: 0..<20)
    func aMigrationAgreesWithAnOracleForEveryAnswer(pair: Int) throws {
        var pair = VersionPair(seed: UInt64(pair))
        let old = try DefinitionParser.read(CanonicalJSON.bytes(of: pair.old)).file
        let new = try DefinitionParser.read(CanonicalJSON.bytes(of: pair.new)).file
        let definition = try DefinitionParserTests.parse(pair.new)
        #expect(QuestionnaireSessionMigrationRules(entries: new.migrations ?? [], old: old, new: new).problems == [])
        for _ in 0..<25 {
            let answers = pair.answers()
            let migration = QuestionnaireSessionMigration(
                of: answers, along: QuestionnaireSessionMigrationPath(from: old, through: [new], to: definition),
                now: Self.now)
            var (kept, stale, orphaned) = (Set<String>(), Set<String>(), Set<String>())
            for (key, answer) in answers {
                let outcome = pair.outcome(of: answer, at: key)
                switch outcome {
                case .kept(let key, let value):
                    kept.insert(key)
                    #expect(migration.answers[key]?.value == value && migration.answers[key]?.isStale == false)
                case .stale(let key):
                    stale.insert(key)
                    #expect(migration.answers[key]?.value == answer.value && migration.answers[key]?.isStale == true)
                case .orphaned:
                    orphaned.insert(key)
                    #expect(migration.answers[key] == answer, "nothing is deleted")
                }
            }
            #expect(Set(migration.kept) == kept && Set(migration.stale) == stale)
            #expect(Set(migration.orphaned) == orphaned && migration.answers.given.count == answers.count)
            #expect(answers.keys.allSatisfy { migration.answers[$0] != nil }, "no place begins anew")
            #expect(migration.newQuestions == ["brandNew"])

            let sheet = AnswerSheet(definition: definition, answers: migration.answers, today: testDay)
            let again = QuestionnaireSessionMigration(unchanged: sheet)
            #expect(again.answers == migration.answers && Set(again.kept) == kept && again.newQuestions == [])
            #expect(sheet.stale == stale.intersection(sheet.visible.map(\.key)))

            let record = QuestionnaireSessionMigrationRecord(migration, of: answers)
            let restored = record.restored(over: migration.answers, now: Self.now)
            #expect(Set(restored.given.keys) == Set(answers.keys))
            for (key, answer) in answers {
                #expect(restored[key]?.value == answer.value && restored[key]?.state == answer.state)
                #expect(restored[key]?.isStale == answer.isStale)
                #expect(restored[key]?.revision ?? 0 >= migration.answers[key]?.revision ?? 0, "never backwards")
            }
        }
    }

    @Test func aMigrationOverSeveralVersionsEqualsSingleSteps() throws {
        func version(_ number: Int64, _ key: String, _ migrations: JSONValue) throws -> JSONValue {
            var json = Sample.definition([Sample.question(key, "single_choice")]).objectValue ?? [:]
            (json["version"], json["migrations"]) = (.integer(number), migrations)
            return .object(json)
        }
        let all = [
            try version(1, "one", []), try version(2, "two", [["rename": ["old": "one", "new": "two"]]]),
            try version(3, "three", [["rename": ["old": "two", "new": "three"]]]),
        ]
        let files = try all.map { try DefinitionParser.read(CanonicalJSON.bytes(of: $0)).file }
        let definitions = try all.map { try DefinitionParserTests.parse($0) }
        let start = ["one": answer(.answered, "a", revision: 4)]
        let whole = QuestionnaireSessionMigration(
            of: start,
            along: QuestionnaireSessionMigrationPath(
                from: files[0], through: [files[1], files[2]], to: definitions[2]),
            now: Self.now)
        let first = QuestionnaireSessionMigration(
            of: start,
            along: QuestionnaireSessionMigrationPath(from: files[0], through: [files[1]], to: definitions[1]),
            now: Self.now)
        let second = QuestionnaireSessionMigration(
            of: first.answers,
            along: QuestionnaireSessionMigrationPath(from: files[1], through: [files[2]], to: definitions[2]),
            now: Self.now)
        #expect(whole.answers.given == second.answers.given && whole.kept == ["three"] && whole.newQuestions == [])
    }

    /// The session moves to the latest version directly, or through the version without the question.
    @Test func aQuestionBroughtBackByALaterVersionIsAskedAgain() throws {
        func version(_ number: Int64, _ keys: [String]) -> JSONValue {
            Sample.definition(keys.map { Sample.question($0, "single_choice") }).setting(
                "version", to: .integer(number))
        }
        let all = [version(1, ["one", "two"]), version(2, ["two"]), version(3, ["one", "two"])]
        let files = try all.map { try DefinitionParser.read(CanonicalJSON.bytes(of: $0)).file }
        let definitions = try all.map { try DefinitionParserTests.parse($0) }
        let start = ["one": answer(.answered, "a", revision: 4), "two": answer(.answered, "b", revision: 2)]
        let whole = QuestionnaireSessionMigration(
            of: start,
            along: QuestionnaireSessionMigrationPath(
                from: files[0], through: [files[1], files[2]], to: definitions[2]),
            now: Self.now)
        let first = QuestionnaireSessionMigration(
            of: start,
            along: QuestionnaireSessionMigrationPath(from: files[0], through: [files[1]], to: definitions[1]),
            now: Self.now)
        #expect(first.orphaned == ["one"] && first.answers == start)
        let second = QuestionnaireSessionMigration(
            of: first.answers,
            along: QuestionnaireSessionMigrationPath(from: files[1], through: [files[2]], to: definitions[2]),
            now: Self.now)
        #expect(whole.answers == second.answers && second.stale == ["one"] && second.kept == ["two"])
        #expect(second.answers["one"]?.value == "a" && second.answers["one"]?.isStale == true)
        #expect(whole.stale == ["one"] && whole.newQuestions == [] && second.newQuestions == ["one"])
    }

    /// Questions swap, lose and get back their keys, and people answer in between. In the history, each revision of a
    /// place is one answer.
    @Test func noRevisionOfAPlaceIsUsedTwice() throws {
        var generator = SeededGenerator(state: 7)
        let keys = ["one", "two", "three"]
        for _ in 0..<200 {
            var (version, definition, asked) = (Int64(1), try Self.version(1, keys), keys)
            var answers: [String: Answer] = [:]
            var history: [String: [Int64: Answer]] = [:]
            func take(_ next: [String: Answer]) throws {
                #expect(Set(answers.keys).isSubset(of: next.keys))
                for (key, answer) in next where answers[key].map({ !$0.isSameAnswer(as: answer) }) ?? true {
                    #expect(answer.revision > answers[key]?.revision ?? 0)
                    #expect(history[key]?[answer.revision] == nil, "\(key) \(answer.revision)")
                    history[key, default: [:]][answer.revision] = answer
                }
                answers = next
            }
            for _ in 0..<12 {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    guard let key = asked.randomElement(using: &generator) else { continue }
                    var next = answers
                    let value = ["a", "b", "c"].randomElement(using: &generator)!
                    next[key] = answer(.answered, .string(value), revision: (answers[key]?.revision ?? 0) + 1)
                    guard next[key]?.isSameAnswer(as: answers[key]) != true else { continue }
                    try take(next)
                default:
                    // Up to three of the four keys, some of them for what was another question before.
                    let target = (keys + ["four"]).shuffled(using: &generator).prefix(3)
                    var entries: [JSONValue] = []
                    for (old, new) in zip(asked.shuffled(using: &generator), target)
                    where Bool.random(using: &generator) {
                        guard !asked.contains(new), !target.contains(old) else { continue }
                        entries.append(["rename": ["old": .string(old), "new": .string(new)]])
                    }
                    let next = try Self.version(version + 1, Array(target), .array(entries))
                    let migration = QuestionnaireSessionMigration(
                        of: answers,
                        along: QuestionnaireSessionMigrationPath(
                            from: definition.file, through: [next.file], to: next.definition), now: Self.now)
                    let before = answers
                    try take(migration.answers)
                    if Bool.random(using: &generator) {
                        try take(
                            QuestionnaireSessionMigrationRecord(migration, of: before).restored(
                                over: answers, now: Self.now))
                        for (key, answer) in before { #expect(answers[key]?.isSameAnswer(as: answer) == true) }
                        #expect(answers.given.count == before.given.count)
                    } else {
                        (version, definition, asked) = (version + 1, next, Array(target))
                    }
                }
            }
        }
    }

    private static func version(
        _ number: Int64, _ keys: [String], _ migrations: JSONValue = []
    ) throws -> (file: DefinitionFile, definition: Definition) {
        let json = Sample.definition(keys.map { Sample.question($0, "single_choice") })
            .setting("version", to: .integer(number)).setting("migrations", to: migrations)
        return (
            try DefinitionParser.read(CanonicalJSON.bytes(of: json)).file, try DefinitionParserTests.parse(json)
        )
    }

    @Test func entriesThatDoNotFitBothVersionsAreE15() throws {
        let old = try file([Sample.question("one", "single_choice"), Sample.question("two", "slider")])
        func problems(_ entry: JSONValue, _ questions: [JSONValue]) throws -> [String] {
            QuestionnaireSessionMigrationRules(entries: [entry], old: old, new: try file(questions)).problems.map {
                "\($0.code) \($0.pointer)"
            }
        }
        let same = [Sample.question("one", "single_choice"), Sample.question("two", "slider")]
        let wrong: [JSONValue] = [
            ["rename": ["old": "zero", "new": "one"]], ["rename": ["old": "one", "new": "nine"]],
            ["rename": ["old": "one", "new": "two"]], ["drop": ["question": "one"]],
            ["options": ["question": "one", "map": ["z": "a"]]], ["options": ["question": "one", "map": ["a": "z"]]],
            ["options": ["question": "one", "map": ["a": "b"]]],
            ["convert": ["question": "two", "rule": "single_to_multi"]],
        ]
        for entry in wrong { #expect(try problems(entry, same) == ["E15 /migrations/0"], "\(entry)") }
        let malformed: [JSONValue] = [
            ["rename": ["old": "one"]], ["forget": [:]], ["convert": ["question": "two", "rule": "magic"]], 7,
            ["options": ["question": "one", "map": ["a": 1]]], ["drop": [:]],
        ]
        for entry in malformed {
            var json = Sample.definition(same).objectValue ?? [:]
            json["migrations"] = [entry]
            let found = DefinitionParserTests.problems(.object(json))
            #expect(found.contains { $0.hasPrefix("E15 /migrations/0") }, "\(entry) \(found)")
        }
    }

    private func file(_ questions: [JSONValue]) throws -> DefinitionFile {
        try DefinitionParser.read(CanonicalJSON.bytes(of: Sample.definition(questions))).file
    }
}

extension [String: Answer] {
    /// Without the places that have none, or have none any more.
    fileprivate var given: [String: Answer] { filter { $0.value.state != .unanswered } }
}

extension Answer {
    /// Whether the history has one row for both. The history does not contain the time of an answer, or whether it is
    /// stale.
    fileprivate func isSameAnswer(as other: Answer?) -> Bool {
        (state, value, preference) == (other?.state, other?.value, other?.preference)
    }
}

/// Two versions of a questionnaire, and what was done to each question between them.
private struct VersionPair {
    enum Deed: CaseIterable {
        case nothing, renamed, removed, dropped, optionMapped, optionRemoved, meaningRaised, converted, retyped,
            narrowed
    }

    enum AnswerOutcome {
        case kept(String, JSONValue?)
        case stale(String)
        case orphaned
    }

    private var generator: SeededGenerator
    private let types = [
        "single_choice", "multi_choice", "slider", "boolean", "single_choice", "multi_choice", "slider",
        "single_choice",
    ]
    private var deeds: [Deed] = []
    private(set) var old: JSONValue = [:]
    private(set) var new: JSONValue = [:]

    init(seed: UInt64) {
        generator = SeededGenerator(state: seed)
        for type in types {
            let possible = Deed.allCases.filter { Self.isPossible($0, on: type) }
            deeds.append(possible.randomElement(using: &generator)!)
        }
        var (before, after, entries): ([JSONValue], [JSONValue], [JSONValue]) = ([], [], [])
        for (index, deed) in deeds.enumerated() {
            let flags: JSONValue = ["skippable": true, "declinable": true]
            before.append(Sample.question("q\(index)", types[index], flags))
            let (question, entry) = changed(index, deed, flags.objectValue!)
            if let question { after.append(question) }
            if let entry { entries.append(entry) }
        }
        after.append(Sample.question("brandNew", "boolean"))
        old = Sample.definition(before).setting("version", to: 1)
        new = Sample.definition(after).setting("migrations", to: .array(entries))
    }

    private static func isPossible(_ deed: Deed, on type: String) -> Bool {
        switch deed {
        case .optionMapped, .optionRemoved: type != "slider" && type != "boolean"
        case .converted: type == "single_choice"
        case .narrowed: type == "slider"
        default: true
        }
    }

    private func changed(
        _ index: Int, _ deed: Deed, _ flags: [String: JSONValue]
    ) -> (question: JSONValue?, entry: JSONValue?) {
        let (key, type) = ("q\(index)", types[index])
        func question(_ key: String, _ type: String, options: [String] = ["a", "b", "c"]) -> JSONValue {
            Sample.question(key, type, options: options, .object(flags))
        }
        switch deed {
        case .nothing: return (question(key, type), nil)
        case .renamed:
            return (question("\(key)New", type), ["rename": ["old": .string(key), "new": .string("\(key)New")]])
        case .removed: return (nil, nil)
        case .dropped: return (nil, ["drop": ["question": .string(key)]])
        case .optionMapped:
            return (
                question(key, type, options: ["a", "b"]), ["options": ["question": .string(key), "map": ["c": "a"]]]
            )
        case .optionRemoved: return (question(key, type, options: ["a", "b"]), nil)
        case .meaningRaised: return (question(key, type).setting("meaningRev", to: 2), nil)
        case .converted:
            return (question(key, "multi_choice"), ["convert": ["question": .string(key), "rule": "single_to_multi"]])
        case .retyped: return (question(key, type == "boolean" ? "slider" : "boolean"), nil)
        case .narrowed: return (question(key, type).setting("constraints.max", to: 2), nil)
        }
    }

    /// Some of the questions answered, skipped or declined.
    mutating func answers() -> [String: Answer] {
        var answers: [String: Answer] = [:]
        for index in types.indices where Int.random(in: 0..<5, using: &generator) > 0 {
            let revision = Int64.random(in: 1...9, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: answers["q\(index)"] = answer(.skipped, revision: revision)
            case 1: answers["q\(index)"] = answer(.declined, revision: revision)
            default: answers["q\(index)"] = answer(.answered, value(types[index]), revision: revision)
            }
        }
        return answers
    }

    private mutating func value(_ type: String) -> JSONValue {
        switch type {
        case "single_choice": return ["a", "b", "c"].randomElement(using: &generator)!
        case "slider": return .integer(Int64.random(in: 0...4, using: &generator))
        case "boolean": return .bool(Bool.random(using: &generator))
        default:
            return .array((["a", "b", "c"] as [JSONValue]).filter { _ in Bool.random(using: &generator) } + ["c"]).asSet
        }
    }

    func outcome(of answer: Answer, at key: String) -> AnswerOutcome {
        let value = answer.value
        switch deeds[Int(String(key.dropFirst()))!] {
        case .nothing: return .kept(key, value)
        case .renamed: return .kept("\(key)New", value)
        case .removed, .dropped: return .orphaned
        case .optionMapped: return .kept(key, value.map { $0.replacing("c", by: "a").asSet })
        case .optionRemoved: return value.map { $0.mentions("c") } == true ? .stale(key) : .kept(key, value)
        case .meaningRaised, .retyped: return .stale(key)
        case .converted: return .kept(key, value.map { .array([$0]) })
        case .narrowed: return (value?.integerValue ?? 0) > 2 ? .stale(key) : .kept(key, value)
        }
    }
}

extension JSONValue {
    /// A set in order, each once; anything else as it is.
    fileprivate var asSet: JSONValue {
        guard let elements = arrayValue else { return self }
        return .array(Set(elements.compactMap(\.stringValue)).sorted().map { .string($0) })
    }

    fileprivate func replacing(_ old: String, by new: String) -> JSONValue {
        if let elements = arrayValue { return .array(elements.map { $0.replacing(old, by: new) }) }
        return stringValue == old ? .string(new) : self
    }

    fileprivate func mentions(_ key: String) -> Bool {
        stringValue == key || arrayValue?.contains { $0.mentions(key) } == true
    }
}
