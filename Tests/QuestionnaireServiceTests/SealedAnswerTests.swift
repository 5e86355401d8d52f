import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import QuestionnaireService

/// Answers to questions that a definition marks as sensitive.
@Suite("answers about health") @Loop struct SealedAnswerTests {
    private nonisolated static let key = "yoked-compat"
    /// Texts that no table may have open.
    private nonisolated static let secrets = ["rosaceaface", "shellfishrash", "eczemaarm"]

    /// - Parameter isMarked: whether the questions about health are marked.
    private nonisolated static func definition(version: Int64, isMarked: Bool = true) -> JSONValue {
        func question(_ key: String, _ type: String, _ members: JSONValue = [:]) -> JSONValue {
            let question = Sample.question(key, type, members)
            return isMarked ? question.setting("sensitive", to: "health") : question
        }
        return Sample.definition(sections: [
            Sample.section(
                "first",
                [
                    question("skin", "text"), Sample.question("plain", "text"),
                    question(
                        "allergies", "multi_choice", ["constraints": ["other": ["maxCount": 2, "maxLength": 80]]]),
                ]),
            Sample.children(0...3, [question("rash", "text")]),
        ]).setting("version", to: .integer(version))
    }

    @Loop private struct Patient {
        let id = Identifier.random()
        let session: Identifier
        let child = Identifier.ordered()

        init(_ service: RunningService) async throws {
            session = try await service.gateway.call(OpenSession(questionnaire: key), service.options(id)).id
        }

        func put(_ question: String, _ value: JSONValue, of subject: Identifier? = nil, _ service: RunningService)
            async throws
        {
            _ = try await call(
                PutAnswer(
                    questionnaire: key, sessionId: session, question: question, subject: subject,
                    mutationId: .ordered(), state: .answered, value: value), service)
        }

        func answers(_ service: RunningService) async throws {
            try await put("skin", "eczemaarm", service)
            try await put("skin", "rosaceaface", service)
            try await put("plain", "nothing to hide", service)
            _ = try await call(
                PutSubject(questionnaire: key, sessionId: session, subject: child, label: "Alva"), service)
            try await put("rash", "eczemaarm", of: child, service)
            _ = try await call(
                PutAnswers(
                    questionnaire: key, sessionId: session,
                    answers: [
                        QueuedAnswer(
                            question: "allergies", mutationId: .ordered(), state: .answered,
                            value: [["other": "shellfishrash"]])
                    ]), service)
        }

        func completes(_ service: RunningService) async throws {
            _ = try await call(CompleteSession(questionnaire: key, sessionId: session), service)
        }

        func call<Request: BusRequest>(_ request: Request, _ service: RunningService) async throws -> Request.Reply {
            try await patiently { try await service.gateway.call(request, service.options(id)) }
        }

        /// The records of the export that have a secret.
        func exported(_ service: RunningService) async throws -> [String] {
            try await call(ExportAnswers(after: nil), service).records.filter { record in
                secrets.contains { record.contains($0) }
            }.sorted()
        }
    }

    private static func open(in service: RunningService) async throws -> Int {
        let everything = try await service.rows("SELECT schema_to_xml(current_schema()::name, true, false, '')")
        #expect(everything.contains("nothing to hide"), "it is what the tables hold")
        return secrets.reduce(0) { $0 + everything.components(separatedBy: $1).count - 1 }
    }

    private static func openDigests(in service: RunningService) async throws -> String {
        try await service.rows(
            "SELECT count(*) FROM mutations WHERE octet_length(digest) = 32 AND question <> 'plain'")
    }

    private static func seal(_ service: RunningService) async throws -> DatesSealed {
        let operators = try service.stage.asking(as: .operator)
        var (sum, after) = (DatesSealed(sessions: 0, dates: 0, answers: 0), String?.none)
        repeat {
            let sealed = try await patiently {
                try await operators.call(SealDates(limit: 1, after: after), CallOptions(timeout: .seconds(10)))
            }
            sum.sessions += sealed.sessions
            sum.dates += sealed.dates
            sum.answers = (sum.answers ?? 0) + (sealed.answers ?? 0)
            after = sealed.next
        } while after != nil
        return sum
    }

    @Test func sensitiveAnswersAreSealedEverywhereAndShownToTheirPerson() async throws {
        try await withService { service in
            try await service.publish(Self.definition(version: 4))
            let patient = try await Patient(service)
            try await patient.answers(service)
            try await service.publish(Self.definition(version: 5))
            _ = try await patient.call(MigrateSession(questionnaire: Self.key, sessionId: patient.session), service)
            try await patient.completes(service)
            #expect(try await Self.open(in: service) == 0)
            #expect(try await Self.openDigests(in: service) == "0")
            let view = try await patient.call(
                GetSession(questionnaire: Self.key, sessionId: patient.session), service)
            #expect(view.answers.first { $0.question == "skin" }?.value == "rosaceaface")
            #expect(view.result?.answers["allergies"]?["value"] == [["other": "shellfishrash"]])
            // Three answers, the former one in the history, and three in the snapshot, which is one record.
            #expect(try await patient.exported(service).count >= 5)
            #expect(try await Self.seal(service).answers == 0)
        }
    }

    @Test func olderAnswersAreSealedByCommand() async throws {
        try await withService { service in
            try await service.publish(Self.definition(version: 4, isMarked: false))
            var patients: [Patient] = []
            for _ in 0..<3 {
                let patient = try await Patient(service)
                try await patient.answers(service)
                patients.append(patient)
            }
            try await patients[0].completes(service)
            #expect(try await Self.open(in: service) > 0)
            let before = try await patients[0].exported(service)
            #expect(try await Self.seal(service).answers == 0, "nothing is marked yet")
            try await service.publish(Self.definition(version: 5))
            let sealed = try await Self.seal(service)
            // Each of three patients has three answers, four revisions and four digests. One has a snapshot of three
            // answers.
            #expect(sealed.sessions == 3 && sealed.dates == 0 && sealed.answers == 3 * (3 + 4 + 4) + 3)
            #expect(try await Self.open(in: service) == 0)
            #expect(try await Self.openDigests(in: service) == "0")
            #expect(try await patients[0].exported(service) == before, "the person's export has them as they were")
            #expect(try await Self.seal(service).answers == 0)

            // What is answered in the former version is sealed, too.
            try await patients[1].answers(service)
            #expect(try await Self.open(in: service) == 0)
            #expect(try await Self.openDigests(in: service) == "0")
        }
    }

    @Test func aRenamedQuestionStaysSensitive() async throws {
        try await withService { service in
            try await service.publish(Sample.definition([Sample.question("old", "text")]).setting("version", to: 4))
            let renamed = Sample.definition([Sample.question("middle", "text")]).setting("version", to: 5)
                .setting("migrations", to: [["rename": ["old": "old", "new": "middle"]]])
            try await service.publish(renamed)
            // The mark comes later than the first rename.
            let sensitive = Sample.definition([Sample.question("new", "text", ["sensitive": "health"])])
                .setting("version", to: 6)
                .setting("migrations", to: [["rename": ["old": "middle", "new": "new"]]])
            try await service.publish(sensitive)
            let marked = try await service.rows(
                "SELECT string_agg(question, ',' ORDER BY question) FROM sensitive_questions WHERE questionnaire = '\(Self.key)'"
            )
            #expect(marked == "middle,new,old")
        }
    }

    @Test func noMarkIsPublishedWhileSealingIsOff() async throws {
        try await ServiceStage.run(
            QuestionnaireServiceDefinition.definition, environment: ["QUESTIONNAIRE_SEAL_HEALTH": "false"]
        ) { stage in
            let isPublished = try await eventually {
                try await stage.rows("SELECT string_agg(questionnaire, ',' ORDER BY questionnaire) FROM definitions")
                    == "eko-family,realsingles-profile,yoked-compat"
            }
            #expect(isPublished, "the one that marks questions is left out")
            let operators = try stage.asking(as: .operator)
            let refused = await #expect(throws: BusError.self) {
                try await operators.call(SealDates(limit: 1), CallOptions(timeout: .seconds(10)))
            }
            #expect(refused?.code == "sealing_off" && refused?.detail.contains("SEAL_HEALTH") == true)
        }
    }

    @Test func noDraftMarksAQuestionWhileSealingIsOff() async throws {
        try await ServiceStage.run(
            QuestionnaireServiceDefinition.definition, environment: ["QUESTIONNAIRE_SEAL_HEALTH": "false"]
        ) { stage in
            let gateway = try stage.asking(as: .gateway)
            let admin = Actor(userID: .random(), sessionID: .ordered(), role: .admin)
            func call<Request: BusRequest>(_ request: Request, key: String? = nil) async throws -> Request.Reply {
                try await patiently {
                    try await gateway.call(
                        request, CallOptions(timeout: .seconds(10), actor: admin, idempotencyKey: key))
                }
            }
            let marked = Sample.definition([Sample.question("skin", "text", ["sensitive": "health"])])
                .setting("key", to: "own")
            let draft = try await call(
                CreateDraft(questionnaire: "own", definition: marked), key: "a key of the editor")
            let report = try await call(CheckDraft(questionnaire: "own", draft: String(draft.number)))
            let place = "/sections/0/questions/0/sensitive"
            #expect(report.findings.map { "\($0.severity) \($0.code) \($0.pointer)" } == ["error E20 \(place)"])
            let refused = await #expect(throws: BusError.self) {
                try await call(
                    PublishDraft(questionnaire: "own", draft: String(draft.number)), key: "another key of theirs")
            }
            #expect(refused?.code == "definition_invalid" && refused?.errors?.map(\.code) == ["E20"])
            #expect(try await stage.rows("SELECT count(*) FROM sensitive_questions") == "0")
        }
    }

    // MARK: Rules

    @Test func aSensitiveQuestionMayHaveNoExtractOrPreference() {
        func problems(_ members: JSONValue, type: String = "text") -> Set<String> {
            let question = Sample.question("skin", type, members).setting("sensitive", to: "health")
            return DefinitionParserTests.problems(Sample.definition([question]))
        }
        let place = "/sections/0/questions/0/sensitive"
        #expect(problems([:]).isEmpty)
        #expect(problems(["extract": ["profileField": "bio"]]) == ["E19 \(place)"])
        #expect(
            problems(["preference": ["acceptable": true, "importance": [0, 1]]], type: "single_choice")
                == ["E19 \(place)"])
        let marked = Sample.question("skin", "text").setting("sensitive", to: "secret")
        #expect(DefinitionParserTests.problems(Sample.definition([marked])) == ["malformed \(place)"])
    }

    @Test func theSkinCareFlowMarksItsHealthQuestions() throws {
        let all = try QuestionnaireServiceDefinition.definitions.map { try DefinitionParser.parse($0) }
        let skin = try #require(all.first { $0.key == "skin-care" })
        #expect(
            skin.sensitive == [
                "skinType", "skinConcerns", "skinGoals", "menstrualCycle", "foodAllergies", "productAllergies",
                "currentRoutine", "routineEffectiveness", "familyHistory",
            ])
        #expect(all.filter { !$0.sensitive.isEmpty }.map(\.key) == ["skin-care"])
    }

    @Test func anAnswerOfAnyTypeIsOpenedUnchanged() throws {
        let sealer = AnswerSealer(try KeyRing(contents: KeyRing.generate(id: "one")))
        let person = Identifier.random()
        for value in ["a", "1990-05-17", ["dairy", ["other": "x"]], 5, 0.5, true, ["unit": "in", "value": 70]]
            as [JSONValue]
        {
            let sealed = sealer.sealed(value, of: person, isSensitive: true)
            #expect(sealed.objectValue?.keys.first == "sealed")
            #expect(try sealer.opened(["a": sealed], of: person) == ["a": value])
        }
    }
}
