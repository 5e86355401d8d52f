import BusProtocol
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// The screens of the shipped questionnaires, for people who answer them at random.
@Suite("questionnaire sessions as screens") struct QuestionnaireSessionScreensTests {
    private static let shipped = QuestionnaireServiceDefinition.definitions

    /// Over all four questionnaires and all seeds together, 10,000 writes in `make prove`.
    private static let writes = Rounds.count(25, prove: 2_500)

    // MARK: After each write

    @Test(arguments: shipped)
    func theViewAfterEachWriteIsThatOfTheAnswers(_ file: [UInt8]) throws {
        let published = PublishedDefinition(try DefinitionParser.parse(file))
        var person = RandomPerson(published.definition, try JSONValue.parse(file, limits: DefinitionParser.limits))
        for number in 0..<Self.writes {
            person.write()
            for language in published.definition.translations.keys {
                let view = published.screens(for: person.sheet, revision: 1, in: language)
                try #require(view == person.anew(published, in: language), "\(number)")
                try #require(person.asked == Self.places(of: view), "\(number): as an independent evaluator says")
                Self.checkShape(of: view, person.sheet)
                Self.checkTexts(of: view, in: language, of: person.json)
            }
        }
    }

    /// The places of the questions that are drawn. A screen that adds a subject draws none of the session's.
    private static func places(of view: SessionScreens) -> [String] {
        view.screens.filter { $0.adds == nil }.flatMap(\.questions).map { AnswerPlace($0.key, of: $0.subject).key }
    }

    private static func checkShape(of view: SessionScreens, _ sheet: AnswerSheet) {
        let keys = view.screens.map(\.key)
        #expect(Set(keys).count == keys.count && Set(view.review.map(\.screen)).isSubset(of: keys))
        if let next = view.next {
            let screen = view.screens.first { $0.key == AnswerPlace(next.question, of: next.subject).key }
            #expect(screen != nil, "what is next is drawn")
            #expect((screen?.adds != nil) == (next.reason == "subject_wanted"))
            let before = screen?.questions.dropLast(next.reason == "subject_wanted" ? 0 : 1)
            #expect(Set(next.before).isSubset(of: before?.map { AnswerPlace($0.key, of: $0.subject).key } ?? []))
        }
        for screen in view.screens {
            #expect(screen.questions.dropLast().allSatisfy { $0.type == "info" })
            #expect(screen.questions.last?.key == screen.key.split(separator: "/").first.map(String.init))
            for question in screen.questions {
                #expect(!question.required || !question.skippable)
                guard let item = sheet.item(at: AnswerPlace(question.key, of: question.subject)) else { continue }
                #expect(question.required == item.required)
                #expect(question.options?.map(\.key) ?? [] == item.options.map(\.key))
            }
        }
        let counted = sheet.items.filter { $0.isCounted && !$0.isHidden }
        #expect(view.review.map(\.screen) == counted.map(\.key))
        #expect(view.review.map(\.state) == counted.map { $0.answer?.state ?? .unanswered })
        #expect(view.progress == sheet.progress && view.answers == sheet.views)
    }

    /// Every text is one of the file's in this language, or one of the service's. What the person wrote, a number, a date
    /// and a height are none of them.
    private static func checkTexts(of view: SessionScreens, in language: String, of file: JSONValue) {
        let strings = file["strings"]?[language]?.objectValue ?? [:]
        let words = language == "sv" ? ["Vill inte svara", "Ja", "Nej"] : ["Prefer not to say", "Yes", "No"]
        let known = Set(strings.values.compactMap(\.stringValue)).union(words)
        var texts = [view.questionnaire.title] + view.screens.map(\.title) + view.review.map(\.label)
        for question in view.screens.flatMap(\.questions) {
            texts += [question.label] + (question.options ?? []).map(\.label)
            texts += [
                question.help, question.declineLabel, question.constraints.minLabel, question.constraints.maxLabel,
            ].compactMap(\.self)
            #expect((question.declineLabel != nil) == question.declinable)
        }
        let types = Dictionary(
            view.screens.flatMap(\.questions).map { ($0.key, $0.type) }, uniquingKeysWith: { first, _ in first })
        for line in view.review {
            let type = types[line.screen.split(separator: "/").first.map(String.init) ?? ""] ?? ""
            let isChosen = ["single_choice", "multi_choice", "ranking", "tags", "boolean"].contains(type)
            if isChosen || line.state == .declined { texts += line.texts.filter { $0 != RandomPerson.own } }
            #expect(line.texts.isEmpty == ![.answered, .declined].contains(line.state) || type == "slider")
        }
        #expect(Set(texts).subtracting(known).isEmpty, "\(language)")
        #expect(Set(texts).isDisjoint(with: Set(strings.keys)))
    }

    // MARK: Another language

    @Test(arguments: shipped)
    func anotherLanguageChangesTextsOnly(_ file: [UInt8]) throws {
        let published = PublishedDefinition(try DefinitionParser.parse(file))
        var person = RandomPerson(published.definition, try JSONValue.parse(file, limits: DefinitionParser.limits))
        for _ in 0..<20 {
            person.write()
            let views = try ["en", "sv"].map {
                try JSONValue.parse(published.screens(for: person.sheet, revision: 7, in: $0).jsonBytes)
            }
            #expect(views[0] != views[1] && Self.mute(views[0]) == Self.mute(views[1]))
            #expect(views[0]["tag"] != views[1]["tag"])
        }
    }

    /// A view without its texts.
    private static func mute(_ value: JSONValue) -> JSONValue {
        let texts: Set<String> = [
            "locale", "tag", "title", "label", "help", "declineLabel", "minLabel", "maxLabel", "texts",
        ]
        switch value {
        case .array(let elements): return .array(elements.map(mute))
        case .object(let members):
            // A subject's label is the person's own.
            guard members["kind"] == nil else { return value }
            return .object(
                members.reduce(into: [:]) { muted, member in
                    muted[member.key] = texts.contains(member.key) ? .bool(true) : mute(member.value)
                })
        default: return value
        }
    }

    // MARK: The tag

    @Test func theTagIsOfTheVersionTheLanguageTheRevisionAndTheDay() throws {
        let published = PublishedDefinition(try DefinitionParser.parse(Self.shipped[1]))
        let other = PublishedDefinition(try DefinitionParser.parse(Self.shipped[0]))
        func tag(_ published: PublishedDefinition, _ revision: Int64, _ language: String, day: Int = 1) throws -> String
        {
            let today = try #require(CivilDate(year: 2026, month: 3, day: day))
            let sheet = AnswerSheet(definition: published.definition, answers: [:], today: today)
            return published.screens(for: sheet, revision: revision, in: language).tag
        }
        let tags = try [
            tag(published, 1, "en"), tag(published, 2, "en"), tag(published, 1, "sv"), tag(published, 1, "en", day: 2),
            tag(other, 1, "en"),
        ]
        #expect(Set(tags).count == tags.count && tags.allSatisfy { $0.count == 64 })
        #expect(try tag(published, 1, "en") == tags[0])
    }

    // MARK: The family of the source document

    @Test func aFamilyOfThreeHasTheScreensOfItsSource() throws {
        let published = PublishedDefinition(try DefinitionParser.parse(Self.shipped[2]))
        func view(_ answers: [String: Answer], _ children: [Subject]) -> SessionScreens {
            let sheet = AnswerSheet(
                definition: published.definition, answers: answers, subjects: children, today: testDay)
            return published.screens(for: sheet, revision: 1, in: "en")
        }
        let start = view([:], [])
        #expect(start.screens.map(\.slug) == ["parent-name", "child-name", "review"])
        #expect(start.screens[1].adds == "child" && start.screens[1].questions.map(\.key) == ["childName"])

        // User info, then for each child its info, goals, topics and dispositions, then the review.
        let child = ["child-name", "child-birthday", "goals", "topics", "talkative", "sensitivity", "accountability"]
        let children = (1...3).map { Subject(id: .ordered(), kind: "child", position: $0) }
        var answers = ["parentName": answer(.answered, "Kim")]
        for (one, name) in zip(children, ["Alva", "Bo", "Cleo"]) {
            answers[AnswerPlace("childName", of: one.id).key] = answer(.answered, .string(name))
        }
        answers[AnswerPlace("childBirthday", of: children[1].id).key] = answer(.answered, "2019-05-04")
        let whole = view(answers, children)
        #expect(whole.screens.map(\.slug) == ["parent-name"] + child + child + child + ["review"])
        let about: [Identifier?] = [nil] + children.flatMap { one in child.map { _ in one.id } } + [nil]
        #expect(whole.screens.map(\.subject) == about)
        #expect(whole.screens.map(\.title).first == "You" && whole.screens[1].title == "Your child")
        #expect(whole.screens.allSatisfy { $0.adds == nil && $0.questions.count == 1 })
        #expect(whole.subjects.map(\.label) == ["Alva", "Bo", "Cleo"])
        #expect(whole.next?.question == "childBirthday" && whole.next?.subject == children[0].id)
        let goals = whole.screens[3].questions[0]
        #expect(goals.control == "chips" && goals.constraints.max == 3 && goals.constraints.other?.maxCount == 1)
        let talkative = whole.screens[5].questions[0]
        #expect(talkative.control == "slider" && talkative.default == 5)
        #expect(talkative.constraints.minLabel == "Quiet" && talkative.constraints.maxLabel == "Talkative")
        let read = whole.review.filter { !$0.texts.isEmpty }.map { "\($0.label) \($0.texts.joined(separator: ", "))" }
        let defaults = [
            "How talkative is your child? 5", "How does your child take criticism? 5",
            "How does your child deal with mistakes? 5",
        ]
        let name = "What is your child called?"
        #expect(
            read == ["What is your name? Kim", "\(name) Alva"] + defaults
                + ["\(name) Bo", "When was your child born? May 4, 2019"] + defaults + ["\(name) Cleo"] + defaults)
        #expect(whole.review.first { $0.screen.hasPrefix("temperament") }?.state == .unanswered)
    }

    // MARK: Info screens

    @Test func aScreenWithoutAQuestionIsDrawnWithTheNextQuestion() throws {
        let definition = try DefinitionParserTests.parse(
            Sample.definition(sections: [
                Sample.section("first", [Sample.question("hello", "info"), Sample.question("one", "boolean")]),
                Sample.section("second", [Sample.question("between", "info")]),
                Sample.children(
                    1...2, [Sample.question("about", "info"), Sample.question("big", "boolean")]),
                Sample.section("last", [Sample.question("thanks", "info"), Sample.question("bye", "info")]),
            ]))
        let published = PublishedDefinition(definition)
        func drawn(_ children: [Subject]) -> [String] {
            let sheet = AnswerSheet(definition: definition, answers: [:], subjects: children, today: testDay)
            return published.screens(for: sheet, revision: 0, in: "en").screens.map { screen in
                ([screen.key.split(separator: "/")[0] + ":"] + screen.questions.map { Substring($0.key) })
                    .joined(separator: " ")
            }
        }
        let children = (1...2).map { Subject(id: .ordered(), kind: "child", position: $0) }
        #expect(drawn([]) == ["one: hello one", "about: between", "bye: thanks bye"])
        #expect(
            drawn(children)
                == ["one: hello one", "big: between about big", "big: about big", "bye: thanks bye"])
    }

    // MARK: Controls and answers as they are read

    private static func shown(
        _ kind: QuestionKind, _ presentation: String = "", options: [String: String] = [:]
    ) -> Question {
        Question(
            key: "q", slug: nil, section: "s", kind: kind, text: "?", help: nil, required: false, skippable: false,
            declinable: false, suggestion: nil, presentation: presentation, constraints: Constraints(),
            options: options.map { .init(key: $0, label: $1, exclusive: false, score: [:]) }, weights: [:])
    }

    @Test func everyTypeHasADocumentedControl() {
        var controls = Set<String>()
        for kind in QuestionKind.allCases {
            for presentation in kind.presentations {
                controls.insert(Self.shown(kind, presentation).control)
            }
        }
        #expect(controls.count == 12)
        // The field that a question fills decides on this one.
        controls.insert("upload")
        #expect(ScreenQuestion.schema.known("control") == controls.sorted())
    }

    @Test(arguments: [
        ("en", ["1994.5", "May 4, 2019", "5′ 7″ (170 cm)", "Yes"]),
        ("sv", ["1994,5", "4 maj 2019", "5′ 7″ (170 cm)", "Ja"]),
        ("de-CH", ["1994.5", "4. Mai 2019", "5′ 7″ (170 cm)"]),
    ])
    func anAnswerIsReadInTheLanguage(_ language: String, _ read: [String]) {
        let text = AnswerText(language: language)
        let answers: [(QuestionKind, JSONValue)] = [
            (.number, .number(1994.5)), (.date, "2019-05-04"), (.height, ["unit": "in", "value": 67]), (.boolean, true),
        ]
        #expect(answers.flatMap { text.texts(of: $1, to: question($0)) } == read)
    }

    @Test func aChoiceIsReadByItsLabelsAndItsOwnEntries() {
        let text = AnswerText(language: "en")
        let choice = Self.shown(.multiChoice, options: ["a": "First", "b": "Second"])
        #expect(text.texts(of: ["b", "a", ["other": "Mine"]], to: choice) == ["Second", "First", "Mine"])
        #expect(text.texts(of: "a", to: choice) == ["First"])
        for stranger in ["gone", 4, true, ["unit": "in"]] as [JSONValue] {
            for kind in QuestionKind.allCases where kind != .text {
                let texts = text.texts(of: stranger, to: question(kind))
                #expect(texts.isEmpty || kind == .boolean || stranger == 4, "\(kind) \(stranger)")
            }
        }
    }
}
