import BusProtocol
import JSONText
import Testing

@testable import QuestionnaireService

/// What changed answers say about fields of the profile, and what profile says about them.
@Suite("answers to fields of the profile") struct ProfileAnswerTests {
    private static func question(_ key: String, _ field: String, visibleIf: JSONValue = true) -> JSONValue {
        Sample.question(
            key, "text",
            ["extract": ["profileField": .string(field)], "declinable": true, "visibleIf": visibleIf])
    }

    private static func sheet(_ answers: [String: Answer] = [:]) throws -> AnswerSheet {
        let definition = try DefinitionParserTests.parse(
            Sample.definition([
                Sample.question("isShy", "boolean"), Sample.question("plain", "text"), question("name", "firstName"),
                question("nick", "firstName"),
                question(
                    "about", "bio",
                    visibleIf: ["or": [["not": ["answered": "isShy"]], ["not": ["var": "isShy"]]]]),
            ]))
        return AnswerSheet(definition: definition, answers: answers, today: testDay)
    }

    private static func plan(
        _ items: [ResponseItem], on sheet: AnswerSheet, _ verdicts: ProfileVerdicts = ProfileVerdicts()
    ) -> ResponsePlan {
        ResponsePlan.each(
            items, on: sheet, mutations: [], now: Timestamp(microsecondsSinceEpoch: 0), verdicts: verdicts)
    }

    @Test func onlyAnswersToFieldsAreJudged() throws {
        let plain = Self.plan([ResponseItem(question: "plain", value: "Hello")], on: try Self.sheet())
        #expect(plain.unjudged == [] && plain.profileFields == [] && plain.writes.count == 1)
        let name = Self.plan([ResponseItem(question: "name", value: "  Zoë ")], on: try Self.sheet())
        #expect(name.unjudged == [ProfileExtract(field: "firstName", value: "Zoë")])
        #expect(name.profileFields == ["firstName"])
    }

    @Test func theFirstQuestionOfAFieldCounts() throws {
        let sheet = try Self.sheet(["name": answer(.answered, "Zoë"), "nick": answer(.answered, "Zo")])
        #expect(sheet.profileAnswers == ["firstName": "Zoë"])
        let nick = Self.plan([ResponseItem(question: "nick", value: "Zozo")], on: sheet)
        #expect(nick.profileFields == [] && nick.unjudged.map(\.value) == ["Zozo"])
        let withdrawn = Self.plan([ResponseItem(question: "name", state: .unanswered)], on: sheet)
        #expect(withdrawn.profileFields == ["firstName"])
    }

    @Test func aDeclinedAnswerAndAWithdrawnOneSayWhatAPatchSays() throws {
        let sheet = try Self.sheet(["about": answer(.answered, "Hi")])
        let declined = Self.plan([ResponseItem(question: "about", state: .declined)], on: sheet)
        #expect(declined.unjudged == [ProfileExtract(field: "bio", value: "prefer_not_to_say")])
        let withdrawn = Self.plan([ResponseItem(question: "about", state: .unanswered)], on: sheet)
        #expect(withdrawn.unjudged == [ProfileExtract(field: "bio", value: .null)])
        #expect(withdrawn.profileFields == ["bio"])
    }

    @Test func aHiddenAnswerSaysNothingUntilItIsShown() throws {
        let hidden = try Self.sheet(["isShy": answer(.answered, true), "about": answer(.answered, "Hi")])
        #expect(hidden.profileAnswers == [:])
        let shown = Self.plan([ResponseItem(question: "isShy", value: false)], on: hidden)
        #expect(shown.profileFields == ["bio"])
        let back = Self.plan(
            [ResponseItem(question: "isShy", value: true)], on: try Self.sheet(["about": answer(.answered, "Hi")]))
        #expect(back.profileFields == [], "what the profile has stays there")
    }

    @Test func whatProfileRefusesIsNotSavedAndTheRestIs() throws {
        let items = [
            ResponseItem(question: "name", value: "x y"), ResponseItem(question: "plain", value: "Hello"),
            ResponseItem(question: "about", value: "damn"),
        ]
        let first = Self.plan(items, on: try Self.sheet())
        var verdicts = ProfileVerdicts()
        verdicts.add(
            AnswersJudged(
                refused: [
                    RefusedAnswer(
                        index: 1, code: "validation_failed", detail: "Please use other words.", reason: "profanity")
                ], judgedAt: Timestamp(microsecondsSinceEpoch: 7)), on: first.unjudged)
        let plan = Self.plan(items, on: try Self.sheet(), verdicts)
        #expect(plan.unjudged == [] && plan.writes.map(\.key) == ["name", "plain"])
        #expect(plan.profileFields == ["firstName"])
        let problem = plan.outcomes[2].refusal?.errors?.first
        #expect(problem?.field == "value" && problem?.message == "Please use other words.")
        #expect(verdicts.judgedAt == Timestamp(microsecondsSinceEpoch: 7))
    }

    @Test func aLockedDateRefusesTheWholeRequest() throws {
        let items = [ResponseItem(question: "plain", value: "Hello"), ResponseItem(question: "about", value: "Hi")]
        var verdicts = ProfileVerdicts()
        let refusal = RefusedAnswer(index: 0, code: "date_of_birth_locked", detail: "The date cannot be changed.")
        verdicts.add(
            AnswersJudged(refused: [refusal], judgedAt: Timestamp(microsecondsSinceEpoch: 0)),
            on: [ProfileExtract(field: "bio", value: "Hi")])
        let error = ResponseRefusal.refused(BusError(.dateOfBirthLocked, "The date cannot be changed."))
        #expect(throws: error) {
            try ResponsePlan.make(
                items, on: try Self.sheet(), mutations: [], now: Timestamp(microsecondsSinceEpoch: 0),
                verdicts: verdicts)
        }
    }

    /// One that changes nothing in the session is not judged again, whatever profile says now.
    @Test func aRepeatedAnswerIsNotJudgedAgain() throws {
        let sheet = try Self.sheet(["name": answer(.answered, "Zoë")])
        let plan = Self.plan([ResponseItem(question: "name", value: "Zoë", mutationId: .ordered())], on: sheet)
        #expect(plan.unjudged == [] && plan.profileFields == [] && plan.writes.map(\.changesAnswer) == [false])
    }
}
