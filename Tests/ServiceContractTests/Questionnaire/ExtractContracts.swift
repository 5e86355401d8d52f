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

/// Extraction through the whole system, from the last answer to the field of the profile.
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

    /// The shipped questionnaire asks for exactly the fields that the profile accepts, and has each option under the
    /// same key.
    @Test func theShippedWizardFitsTheProfile() throws {
        let bytes = try #require(
            QuestionnaireServiceDefinition.definitions.first {
                String(decoding: $0, as: UTF8.self).contains("realsingles")
            })
        let definition = try DefinitionParser.parse(bytes)
        #expect(definition.questions.allSatisfy { $0.profileField != nil })
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

    @Test func withoutProfileNoDefinitionWithItsFieldsIsPublished() async throws {
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

    @Test func onlyProfileMayReadExtracts() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            var asked = try await GetExtracts.everyday(questionnaire)
            #expect(
                try await questionnaire.reply(to: asked).extracts == [ProfileExtract(field: "firstName", value: "Zoë")])
            asked.caller = .operator
            let refusal = await #expect(throws: BusError.self) { try await questionnaire.reply(to: asked) }
            #expect(refusal?.code == "caller_not_allowed")
        }
    }

    @Test func aStoppedSessionHasNoExtracts() async throws {
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

    /// A person with a session of a questionnaire, who answers over HTTP.
    @Loop private struct Writer {
        let system: TestSystem
        let person: Session
        let session: String

        init(_ phone: String, to questionnaire: String = "about-me", in system: TestSystem) async throws {
            (self.system, person) = (system, try await system.signIn(phone))
            let opened = try await system.send("POST", "/questionnaires/\(questionnaire)/sessions", as: person)
            session = "/questionnaires/\(questionnaire)/sessions/" + (opened.json["id"]?.stringValue ?? "")
        }

        func answer(_ question: String, _ value: JSONValue?, state: JSONValue = "answered") async throws
            -> Exchange
        {
            var body: [String: JSONValue] = [
                "mutationId": .string(Identifier.ordered().description), "state": state,
            ]
            body["value"] = value
            return try await system.send("PUT", session + "/answers/\(question)", .object(body), as: person)
        }

        func profile() async throws -> JSONValue? {
            try await system.send("GET", "/users/me", as: person).json["profile"]
        }
    }

    @Test func theProfileHasAnAnswerAsSoonAsItIsSaved() async throws {
        try await TestSystem.run { system in
            try await system.publish(Self.definition)
            let writer = try await Writer("+14155550123", in: system)
            _ = try await system.send("PATCH", "/users/me", ["bio": "My own"], as: writer.person)
            for (question, value) in [
                ("name", "Zoë"), ("tall", ["unit": "cm", "value": 178]), ("about", "Another"), ("place", "SE"),
                ("secret", "Not for the profile"),
            ] as [(String, JSONValue)] {
                #expect(try await writer.answer(question, value).status == 200, "\(question)")
            }
            let isThere = try await eventually { try await writer.profile()?["country"] == "SE" }
            #expect(isThere, "the questionnaire is not completed, and need not be")
            var profile = try await writer.profile()
            #expect(profile?["heightInches"] == 70 && profile?["displayName"] == "Zoë")
            #expect(profile?["bio"] == "Another", "it is the newest that the person said")

            #expect(try await writer.answer("name", "Zoë Mae").status == 200)
            let withdrawn = try await system.send("DELETE", writer.session + "/answers/about", as: writer.person)
            #expect(withdrawn.status == 200)
            let isChanged = try await eventually { try await writer.profile()?["bio"] == nil }
            profile = try await writer.profile()
            #expect(isChanged && profile?["firstName"] == "Zoë Mae" && profile?["displayName"] == "Zoë")
            let history = try await system.rows(
                .profile, "SELECT string_agg(DISTINCT key, ',' ORDER BY key) FROM profile_field_history")
            #expect(history == "bio,country,displayName,firstName,heightInches")
        }
    }

    @Test func anAnswerThatTheProfileRefusesIsNotSaved() async throws {
        try await TestSystem.run { system in
            let writer = try await Writer("+14155550123", to: "realsingles-profile", in: system)
            let photo = try await writer.answer("photo", "https://cdn.example/a.jpg")
            #expect(photo.status == 422 && photo.json["code"] == "validation_failed")
            let problem = photo.json["errors"]?.arrayValue?.first
            #expect(problem?["message"] == "Please upload the photo. An address is not taken.")
            #expect(try await writer.answer("firstName", "Zoë").status == 200)
            let read = try await system.send("GET", writer.session, as: writer.person)
            #expect(read.json["answers"]?.arrayValue?.map { $0["question"] } == ["firstName"])
            // A person can correct the date of birth once, wherever they give it.
            for date in ["1990-02-28", "1991-02-28"] {
                #expect(try await writer.answer("dateOfBirth", .string(date)).status == 200)
                let isThere = try await eventually { try await writer.profile()?["dateOfBirth"] == .string(date) }
                #expect(isThere)
            }
            let locked = try await writer.answer("dateOfBirth", "1992-02-28")
            let patched = try await system.send(
                "PATCH", "/users/me", ["dateOfBirth": "1992-02-28"], as: writer.person)
            #expect(locked.status == 409 && locked.json["code"] == "date_of_birth_locked")
            #expect(locked.json["detail"] == patched.json["detail"] && patched.status == 409)
            #expect(try await writer.answer("dateOfBirth", "1991-02-28").status == 200, "the same date changes nothing")
        }
    }

    @Test func anAnswerThatRevealsAMinorBlocksThePerson() async throws {
        try await TestSystem.run { system in
            let writer = try await Writer("+14155550123", to: "realsingles-profile", in: system)
            let born = JSONValue.string("\(Timestamp.now().date.year - 16)-01-01")
            #expect(try await writer.answer("dateOfBirth", born).status == 200)
            let isBlocked = try await eventually {
                try await system.send("GET", "/users/me/onboarding", as: writer.person).json["onboardingStatus"]
                    == "blocked"
            }
            #expect(isBlocked)
            let waits = try await system.send("POST", "/users/me/waitlist", ["notify": true], as: writer.person)
            #expect(waits.status == 200 && waits.json["eligibleOn"] != nil)
        }
    }

    @Test func onlyAnswersThatNeedProfileAreRefusedWhileItIsAway() async throws {
        try await TestSystem.run { system in
            try await system.publish(Self.definition)
            let writer = try await Writer("+14155550123", in: system)
            #expect(try await writer.answer("name", "Zoë").status == 200)
            let isThere = try await eventually { try await writer.profile()?["firstName"] == "Zoë" }
            #expect(isThere)
            await system.stop(.profile)
            let refused = try await writer.answer("about", "Hello")
            #expect(refused.status == 503 && refused.json["code"] == "service_unavailable")
            #expect(try await writer.answer("secret", "Not for the profile").status == 200)
            try await system.start(.profile)
            let isSaved = try await eventually { try await writer.answer("about", "Hello").status == 200 }
            let isTold = try await eventually { try await writer.profile()?["bio"] == "Hello" }
            #expect(isSaved && isTold)
        }
    }
}
