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
        #expect(plain.profile.unjudged == [] && plain.profile.fields == [] && plain.writes.count == 1)
        let name = Self.plan([ResponseItem(question: "name", value: "  Zoë ")], on: try Self.sheet())
        #expect(name.profile.unjudged == [ProfileExtract(field: "firstName", value: "Zoë")])
        #expect(name.profile.fields == ["firstName"])
    }

    @Test func theFirstQuestionOfAFieldCounts() throws {
        let sheet = try Self.sheet(["name": answer(.answered, "Zoë"), "nick": answer(.answered, "Zo")])
        #expect(sheet.profileAnswers == ["firstName": "Zoë"])
        let nick = Self.plan([ResponseItem(question: "nick", value: "Zozo")], on: sheet)
        #expect(nick.profile.fields == [] && nick.profile.unjudged.map(\.value) == ["Zozo"])
        let withdrawn = Self.plan([ResponseItem(question: "name", state: .unanswered)], on: sheet)
        #expect(withdrawn.profile.fields == ["firstName"])
    }

    @Test func declinedAndWithdrawnAnswersAreSentAsInAPatch() throws {
        let sheet = try Self.sheet(["about": answer(.answered, "Hi")])
        let declined = Self.plan([ResponseItem(question: "about", state: .declined)], on: sheet)
        #expect(declined.profile.unjudged == [ProfileExtract(field: "bio", value: "prefer_not_to_say")])
        let withdrawn = Self.plan([ResponseItem(question: "about", state: .unanswered)], on: sheet)
        #expect(withdrawn.profile.unjudged == [ProfileExtract(field: "bio", value: .null)])
        #expect(withdrawn.profile.fields == ["bio"])
    }

    @Test func aHiddenAnswerIsNotSentUntilItIsShown() throws {
        let hidden = try Self.sheet(["isShy": answer(.answered, true), "about": answer(.answered, "Hi")])
        #expect(hidden.profileAnswers == [:])
        let shown = Self.plan([ResponseItem(question: "isShy", value: false)], on: hidden)
        #expect(shown.profile.fields == ["bio"])
        let back = Self.plan(
            [ResponseItem(question: "isShy", value: true)], on: try Self.sheet(["about": answer(.answered, "Hi")]))
        #expect(back.profile.fields == [], "what the profile has stays there")
    }

    /// The question is hidden when the person gives the answer that shows it, so they cannot mend it in the same request.
    @Test func aShownAnswerThatIsRefusedIsAskedAgain() throws {
        let hidden = try Self.sheet(["isShy": answer(.answered, true), "about": answer(.answered, "damn")])
        let items = [ResponseItem(question: "isShy", value: false)]
        let unjudged = Self.plan(items, on: hidden).profile.unjudged
        #expect(unjudged == [ProfileExtract(field: "bio", value: "damn")])
        var verdicts = ProfileVerdicts()
        verdicts.add(
            AnswersJudged(
                refused: [RefusedAnswer(index: 0, code: "validation_failed", detail: "Please use other words.")],
                judgedAt: Timestamp(microsecondsSinceEpoch: 0)), on: unjudged)
        let plan = Self.plan(items, on: hidden, verdicts)
        #expect(plan.profile == ProfileAnswerChange(fields: [], unjudged: [], refused: ["about"]))
        #expect(plan.outcomes.allSatisfy { $0.revision != nil } && plan.writes.map(\.key) == ["isShy"])
        let after = hidden.with(plan.answers)
        #expect(after.stale == ["about"] && after.answers["about"]?.value == "damn")
        #expect(after.missing.map(\.reason) == [.stale] && after.profileAnswers == [:])
        let again = Self.plan([ResponseItem(question: "about", value: "damn")], on: after, verdicts)
        #expect(again.outcomes[0].refusal?.errors?.first?.message == "Please use other words.")
    }

    /// The next question of the field counts then.
    @Test func anotherAnswerToTheFieldCountsInsteadOfARefusedOne() throws {
        let before = try Self.sheet([:])
        let after = try Self.sheet(["name": answer(.answered, "damn"), "nick": answer(.answered, "Zo")])
        var verdicts = ProfileVerdicts()
        let both = ["damn", "Zo"].map { ProfileExtract(field: "firstName", value: .string($0)) }
        verdicts.add(
            AnswersJudged(
                refused: [RefusedAnswer(index: 0, code: "validation_failed", detail: "Please use other words.")],
                judgedAt: Timestamp(microsecondsSinceEpoch: 0)), on: both)
        let (sheet, change) = after.judged(since: before, verdicts)
        #expect(change == ProfileAnswerChange(fields: ["firstName"], unjudged: [], refused: ["name"]))
        #expect(sheet.profileAnswers == ["firstName": "Zo"] && sheet.stale == ["name"])
    }

    /// A date of birth cannot be withdrawn, so a question without an answer that comes to count changes nothing.
    @Test func aRefusedWithdrawalIsNotAskedForAgain() throws {
        let after = try Self.sheet(["name": answer(.unanswered)])
        var verdicts = ProfileVerdicts()
        verdicts.add(
            AnswersJudged(
                refused: [RefusedAnswer(index: 0, code: "validation_failed", detail: "This is required.")],
                judgedAt: Timestamp(microsecondsSinceEpoch: 0)), on: [ProfileExtract(field: "firstName", value: .null)])
        let (sheet, change) = after.judged(since: try Self.sheet([:]), verdicts)
        #expect(change == ProfileAnswerChange() && sheet.stale.isEmpty)
    }

    @Test func onlyTheAnswersRefusedByProfileAreNotSaved() throws {
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
                ], judgedAt: Timestamp(microsecondsSinceEpoch: 7)), on: first.profile.unjudged)
        let plan = Self.plan(items, on: try Self.sheet(), verdicts)
        #expect(plan.profile.unjudged == [] && plan.writes.map(\.key) == ["name", "plain"])
        #expect(plan.profile.fields == ["firstName"])
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

    /// An answer that changes nothing is not judged again, even if profile would refuse it now.
    @Test func aRepeatedAnswerIsNotJudgedAgain() throws {
        let sheet = try Self.sheet(["name": answer(.answered, "Zoë")])
        let plan = Self.plan([ResponseItem(question: "name", value: "Zoë", mutationId: .ordered())], on: sheet)
        #expect(plan.profile.unjudged == [] && plan.profile.fields == [] && plan.writes.map(\.changesAnswer) == [false])
    }
}
