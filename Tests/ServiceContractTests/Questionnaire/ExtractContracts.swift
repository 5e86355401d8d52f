import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService
@testable import QuestionnaireService

extension GetExtracts: MessageContract {
    static let canonical = GetExtracts(personID: Sample.person, sessionID: Sample.session)
    static let minimal = GetExtracts(personID: Sample.person, sessionID: Sample.session)
    static let maximal = GetExtracts(personID: Sample.person, sessionID: Sample.session)
    static let canonicalReply = ProfileExtracts(extracts: [
        ProfileExtract(field: "firstName", value: "Zoë"), ProfileExtract(field: "heightInches", value: 70),
    ])
    static let minimalReply = ProfileExtracts(extracts: [])
    static let maximalReply = ProfileExtracts(extracts: [
        ProfileExtract(field: DraftSamples.longest, value: ["nature", ["other": "Zoë’s ☕️"]])
    ])
    static let errors: [BusError] = []
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetExtracts> {
        try await questionnaire.published(ExtractTests.definition, of: "about-me")
        let person = Identifier.random()
        let session = try await questionnaire.reply(to: Asked(OpenSession(questionnaire: "about-me"), for: person)).id
        try await questionnaire.reply(
            to: Asked(
                PutAnswer(
                    questionnaire: "about-me", sessionId: session, question: "name", mutationId: .ordered(),
                    state: .answered, value: "Zoë"), for: person))
        try await questionnaire.reply(
            to: Asked(CompleteSession(questionnaire: "about-me", sessionId: session), for: person))
        return Asked(GetExtracts(personID: person, sessionID: session), as: .profile)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, GetExtracts>] = [:]
}

/// From the last answer to the field of the profile, through the whole system.
@Suite("extraction into the profile") @Loop struct ExtractTests {
    nonisolated static let definition: JSONValue = [
        "key": "about-me", "version": 1, "titleKey": "q", "locales": ["en"], "defaultLocale": "en",
        "strings": ["en": ["q": "A text"]],
        "sections": [
            [
                "key": "me",
                "questions": [
                    [
                        "key": "name", "type": "text", "textKey": "q", "required": true,
                        "extract": ["profileField": "firstName"],
                    ],
                    ["key": "tall", "type": "height", "textKey": "q", "extract": ["profileField": "heightInches"]],
                    ["key": "about", "type": "text", "textKey": "q", "extract": ["profileField": "bio"]],
                    ["key": "place", "type": "text", "textKey": "q", "extract": ["profileField": "country"]],
                    ["key": "secret", "type": "text", "textKey": "q"],
                ],
            ]
        ],
    ]

    /// The shipped questionnaire asks exactly what the profile accepts: each field, and each option by its key.
    @Test func theShippedWizardFitsTheProfile() throws {
        let bytes = try #require(
            QuestionnaireServiceDefinition.definitions.first {
                String(decoding: $0, as: UTF8.self).contains("realsingles")
            })
        let definition = try DefinitionParser.parse(bytes)
        #expect(definition.questions.filter { $0.profileField == nil }.map(\.key) == ["country"])
        for question in definition.questions {
            guard let name = question.profileField else { continue }
            let field = try #require(try FieldLibrary.shipped.get().catalogue.field(name), "\(name)")
            #expect(!question.declinable || field.isDeclinable, "\(name)")
            for option in question.options {
                let key = JSONValue.string(option.key)
                let value = question.kind == .multiChoice ? JSONValue.array([key]) : key
                #expect(throws: Never.self) { try FieldValidator.canonical(value, for: field) }
            }
        }
    }

    @Test func aFieldThatTheProfileDoesNotHaveIsNotPublished() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let text = String(decoding: CanonicalJSON.bytes(of: Self.definition), as: UTF8.self)
            let wrong = try JSONValue.parse(Array(text.replacing("heightInches", with: "shoeSize").utf8))
            let draft = try await questionnaire.draft(wrong, of: "about-me")
            let report = try await questionnaire.reply(
                to: DraftSamples.admin(CheckDraft(questionnaire: "about-me", draft: draft)))
            let place = "/sections/0/questions/1/extract/profileField"
            #expect(report.findings.map { "\($0.code) \($0.pointer)" } == ["E18 \(place)"])
            #expect(report.findings.first?.message == "The profile has no field “shoeSize”.")
            let refusal = await #expect(throws: BusError.self) {
                try await questionnaire.reply(
                    to: DraftSamples.admin(PublishDraft(questionnaire: "about-me", draft: draft), key: "key-1"))
            }
            #expect(refusal?.code == "definition_invalid" && refusal?.errors?.map(\.field) == [place])
        }
    }

    @Test func withoutProfileNothingThatNamesItsFieldsIsPublished() async throws {
        try await ServiceStage.run(QuestionnaireServiceDefinition.definition) { stage in
            let questionnaire = QuestionnaireProvider(stage: stage, opened: EventRecorder<SessionOpened>())
            let draft = try await questionnaire.draft(Self.definition, of: "about-me")
            let refusal = await #expect(throws: BusError.self) {
                try await questionnaire.reply(
                    to: DraftSamples.admin(PublishDraft(questionnaire: "about-me", draft: draft), key: "key-1"))
            }
            #expect(refusal?.code == "service_unavailable" && refusal?.executed == .no)
            try await questionnaire.published()
        }
    }

    @Test func answersAreToldToProfileAlone() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            var asked = try await GetExtracts.everyday(questionnaire)
            #expect(
                try await questionnaire.reply(to: asked).extracts == [ProfileExtract(field: "firstName", value: "Zoë")])
            asked.caller = .operator
            let refusal = await #expect(throws: BusError.self) { try await questionnaire.reply(to: asked) }
            #expect(refusal?.code == "caller_not_allowed")
        }
    }

    @Test func nothingIsToldOfASessionThatWasStopped() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let asked = try await GetExtracts.everyday(questionnaire)
            let (person, session) = (asked.message.personID, asked.message.sessionID)
            try await questionnaire.reply(
                to: Asked(ReopenSession(questionnaire: "about-me", sessionId: session), for: person))
            #expect(try await questionnaire.reply(to: asked).extracts.count == 1)
            let stopped = try await questionnaire.reply(
                to: Asked(StopSession(questionnaire: "about-me", sessionId: session), for: person))
            #expect(stopped.result != nil, "its person reads what it came to")
            #expect(try await questionnaire.reply(to: asked).extracts == [])
        }
    }

    @Test func theProfileHasWhatWasAnsweredAndItsPersonDidNotSayThere() async throws {
        try await TestSystem.run { system in
            try await system.publish(Self.definition)
            let person = try await system.signIn("+14155550123")
            _ = try await system.send("PATCH", "/users/me", ["bio": "My own"], as: person)
            let opened = try await system.send("POST", "/questionnaires/about-me/sessions", as: person)
            let session = "/questionnaires/about-me/sessions/" + (opened.json["id"]?.stringValue ?? "")
            let answers: [(String, JSONValue)] = [
                ("name", "Zoë"), ("tall", ["unit": "cm", "value": 178]), ("about", "Another"), ("place", "Sweden"),
                ("secret", "Not for the profile"),
            ]
            for (question, value) in answers {
                let saved = try await system.send(
                    "PUT", session + "/answers/\(question)",
                    [
                        "mutationId": .string(Identifier.ordered().description), "state": "answered", "value": value,
                    ], as: person)
                #expect(saved.status == 200, "\(question)")
            }
            // Profile is stopped, so the event is delivered later.
            await system.stop(.profile)
            #expect(try await system.send("POST", session + "/complete", as: person).status == 200)
            try await system.start(.profile)
            let isThere = try await eventually {
                try await system.send("GET", "/users/me", as: person).json["profile"]?["firstName"] == "Zoë"
            }
            #expect(isThere)
            let profile = try await system.send("GET", "/users/me", as: person).json["profile"]
            #expect(profile?["heightInches"] == 70 && profile?["displayName"] == "Zoë")
            #expect(profile?["bio"] == "My own" && profile?["country"] == nil)
            let history = try await system.rows(
                .profile, "SELECT string_agg(key, ',' ORDER BY key) FROM profile_field_history WHERE key <> 'bio'")
            #expect(history == "displayName,firstName,heightInches")
        }
    }
}
