import BusProtocol
import EventLoop
import JSONText
import ServiceRuntime
import Testing

@testable import QuestionnaireService

@Suite("strings in several languages") @Loop struct LanguageTests {
    /// Two questions in two languages.
    nonisolated static let json: JSONValue = [
        "key": "yoked-compat", "version": 4, "titleKey": "t", "locales": ["en", "pt-BR"], "defaultLocale": "en",
        "strings": [
            "en": ["t": "Title", "s": "You", "q": "Dear {name}?", "o": "Yes"],
            "pt-BR": ["t": "Título", "s": "Você", "q": "Caro {name}?", "o": "Sim"],
        ],
        "sections": [
            [
                "key": "one", "titleKey": "s",
                "questions": [
                    [
                        "key": "first", "type": "single_choice", "textKey": "q",
                        "options": [["key": "yes", "labelKey": "o", "visibleIf": true]],
                    ]
                ],
            ]
        ],
    ]

    @Test(
        "a problem of one language is reported for it",
        arguments: [
            ("strings.pt-BR", ["t": "x", "s": "x", "q": "{name}"], "E11 /sections/0/questions/0/options/0/labelKey"),
            ("strings.pt-BR.spare", "x", "E11 /strings/pt-BR/spare"),
            ("strings.pt-BR.q", "Caro?", "E11 /strings/pt-BR/q"),
            ("strings.pt-BR.q", "Caro {nome}?", "E11 /strings/pt-BR/q"),
            ("strings.pt-BR.q", "Caro {name} e {other}?", "E11 /strings/pt-BR/q"),
            ("locales", ["en"], "E11 /strings"),
        ] as [(String, JSONValue, String)])
    nonisolated func strings(path: String, value: JSONValue, problem: String) {
        #expect(DefinitionParserTests.problems(Self.json) == [])
        #expect(DefinitionParserTests.problems(Self.json.setting(path, to: value)) == [problem])
    }

    @Test(
        "a difference of texts is named in the message",
        arguments: [
            ("locales", ["en"], "There are strings for pt-BR, which locales does not name."),
            (
                "locales", ["en", "de", "sv"],
                "There are no strings for de, sv. There are strings for pt-BR, which locales does not name."
            ),
            ("strings.pt-BR.q", "Caro?", "This lacks {name}, which en has."),
            ("strings.pt-BR.q", "{name}{a}{b}?", "This has {a}, {b}, which en lacks."),
            ("strings.pt-BR.q", "{nome}", "This lacks {name}, which en has. This has {nome}, which en lacks."),
        ] as [(String, JSONValue, String)])
    nonisolated func differences(path: String, value: JSONValue, message: String) {
        let error = #expect(throws: DefinitionError.self) {
            try DefinitionParserTests.parse(Self.json.setting(path, to: value))
        }
        #expect(error?.problems.contains { $0.code == "E11" && $0.message == message } == true)
    }

    @Test(
        "the best available language is chosen",
        arguments: [
            ("pt-BR", "pt-BR"), ("pt-br", "pt-BR"), ("pt", "pt-BR"), ("sv", "sv"), ("sv-FI", "sv"), ("de", "en"),
            ("*", "en"), ("", "en"), ("de, sv;q=0.2, pt;q=0.9", "pt-BR"), ("sv;q=0, pt", "pt-BR"), ("sv;q=x", "en"),
            ("de;q=1, en;q=0.4 , sv ; q=0.5", "sv"), ("pt-PT-x", "en"), (",;,", "en"), ("zh-Hans-CN", "zh-Hans"),
        ])
    nonisolated func choice(header: String, language: String) {
        let languages = ["en", "pt-BR", "sv", "zh-Hans"]
        #expect(LanguagePreference(header).choose(from: languages, fallback: "en") == language)
    }

    @Test func aPersonIsAskedInTheirLanguage() async throws {
        try await ConditionalServiceTests.run(asking: Self.json) { service in
            let person = Identifier.random()
            func ask(_ header: String?) async throws -> QuestionsView {
                try await service.gateway.call(GetQuestions(acceptLanguage: header), service.options(person))
            }
            let view = try await ask("pt;q=0.9, de")
            #expect(view.language == "pt-BR" && view.questionnaire.title == "Título")
            #expect(view.questions[0].text == "Caro {name}?" && view.questions[0].sectionTitle == "Você")
            #expect(view.questions[0].options?.map(\.label) == ["Sim"])
            for header in [nil, "de", "*"] as [String?] {
                let view = try await ask(header)
                #expect(view.language == "en" && view.questions[0].options?.map(\.label) == ["Yes"])
            }
            #expect(try QuestionsView.schema.problems(in: JSONDocument(WireJSON.encode(view)).root).isEmpty)
        }
    }
}
