import BusProtocol
import JSONText
import Testing

@testable import QuestionnaireService

@Suite("what a request's answers do") struct ResponsePlanTests {
    static let questions = [
        question(.number, key: "a", required: true),
        question(.number, key: "b", skippable: true, declinable: true),
        question(.info, key: "note"),
    ]
    static let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)

    static func plan(
        _ items: [ResponseItem], on answers: [String: Answer] = [:], mutations: [RecordedMutation] = []
    ) -> Result<ResponsePlan, ResponseRefusal> {
        let sheet = AnswerSheet(definition: definition(questions), answers: answers, today: testDay)
        do throws(ResponseRefusal) {
            return .success(try ResponsePlan.make(items, on: sheet, mutations: mutations, now: now))
        } catch {
            return .failure(error)
        }
    }

    static func refusals(_ items: [ResponseItem], on answers: [String: Answer] = [:]) -> [String] {
        guard case .failure(let refusal) = plan(items, on: answers) else { return [] }
        return [refusal.busError.code] + (refusal.busError.errors ?? []).map { "\($0.field) \($0.code)" }
    }

    @Test func aNewAnswerIsRevisionOne() throws {
        let plan = try Self.plan([ResponseItem(question: "a", value: 1)]).get()
        #expect(plan.revisions == [AnswerRevision(question: "a", revision: 1)])
        #expect(plan.answers["a"] == Answer(state: .answered, value: 1, revision: 1, changedAt: Self.now))
        #expect(plan.writes.map(\.changesAnswer) == [true])
    }

    @Test func savingTheSameAgainChangesNothing() throws {
        let before = ["a": answer(.answered, 1, revision: 3), "b": answer(.skipped, revision: 2)]
        let plan = try Self.plan(
            [ResponseItem(question: "a", value: 1.0), ResponseItem(question: "b", state: .skipped)], on: before
        ).get()
        #expect(plan.writes.isEmpty && plan.answers == before && !plan.changesAnswers)
        #expect(plan.revisions.map(\.revision) == [3, 2])
    }

    @Test func theSameQuestionTwiceIsTakenInOrder() throws {
        let plan = try Self.plan([ResponseItem(question: "a", value: 1), ResponseItem(question: "a", value: 2)]).get()
        #expect(plan.revisions.map(\.revision) == [1, 2])
        #expect(plan.answers["a"]?.value == 2)
    }

    @Test func everyProblemIsNamedAtItsMember() {
        let found = Self.refusals([
            ResponseItem(question: "a", value: "x"), ResponseItem(question: "nothing", value: 1),
            ResponseItem(question: "a"), ResponseItem(question: "a", value: 1, state: .skipped),
            ResponseItem(question: "a", state: .skipped), ResponseItem(question: "a", state: .declined),
            ResponseItem(question: "a", state: .acknowledged), ResponseItem(question: "note", value: 1),
            ResponseItem(question: "b", subject: .ordered(), value: 1), ResponseItem(question: "b", value: 1),
        ])
        #expect(
            found == [
                "validation_failed", "answers.0.value wrong_type", "answers.1.question unknown_question",
                "answers.2.value required", "answers.3.value no_value", "answers.4.state not_skippable",
                "answers.5.state not_declinable", "answers.6.state answer_required", "answers.7.value no_value",
                "answers.8.subject unknown_subject",
            ])
    }

    @Test func askippedQuestionKeepsItsAnswer() throws {
        let before = ["b": answer(.answered, 1)]
        #expect(
            Self.refusals([ResponseItem(question: "b", state: .skipped)], on: before) == [
                "validation_failed", "answers.0.state has_value",
            ])
        let declined = try Self.plan([ResponseItem(question: "b", state: .declined)], on: before).get()
        #expect(declined.answers["b"]?.value == nil && declined.answers["b"]?.revision == 2)
        #expect(try Self.plan([ResponseItem(question: "note", state: .acknowledged)]).get().changesAnswers)
    }

    /// Base revision × what is there × what is sent, against the rule in plain words.
    @Test func conflictsAgainstTheRule() {
        for current in [nil, 1, 2] as [Int64?] {
            for base in [nil, 0, 1, 2, 3] as [Int64?] {
                for value in [1, 2] as [Int64] {
                    let before = current.map { ["a": answer(.answered, 1, revision: $0)] } ?? [:]
                    let item = ResponseItem(question: "a", value: .integer(value), baseRevision: base)
                    let isEqual = current != nil && value == 1
                    let isStale = base != nil && base != current ?? 0
                    switch Self.plan([item], on: before) {
                    case .success(let plan):
                        #expect(isEqual || !isStale)
                        #expect(plan.revisions[0].revision == (current ?? 0) + (isEqual ? 0 : 1))
                    case .failure(let refusal):
                        #expect(!isEqual && isStale && refusal.busError.code == "answer_conflict")
                        let shown = refusal.busError.details?["current"]?.arrayValue?.first
                        #expect(shown?["revision"] == .integer(current ?? 0))
                        #expect(shown?["value"] == current.map { _ in 1 })
                    }
                }
            }
        }
    }

    @Test func aMutationIsDoneOnceAlsoAfterLaterWrites() throws {
        let item = ResponseItem(question: "a", value: 1, mutationId: .ordered(), baseRevision: 0)
        let first = try Self.plan([item]).get()
        let recorded = try #require(first.writes[0].mutation)
        let later = ["a": answer(.answered, 9, revision: 5)]
        let again = try Self.plan([item], on: later, mutations: [recorded]).get()
        #expect(again.answers == later && again.writes.isEmpty)
        #expect(again.revisions == [AnswerRevision(question: "a", revision: 1)])
        var other = item
        other.value = 2
        guard case .failure(.mutationReused) = Self.plan([other], on: later, mutations: [recorded]) else {
            Issue.record("another write under the same id")
            return
        }
    }

    @Test func aMutationThatChangesNothingIsRememberedAllTheSame() throws {
        let item = ResponseItem(question: "a", value: 1, mutationId: .ordered())
        let plan = try Self.plan([item], on: ["a": answer(.answered, 1, revision: 4)]).get()
        #expect(plan.writes.map(\.changesAnswer) == [false])
        #expect(plan.writes[0].mutation?.revision == 4)
    }

    @Test func twiceInOneRequestIsOnce() throws {
        let item = ResponseItem(question: "a", value: 1, mutationId: .ordered())
        let plan = try Self.plan([item, item]).get()
        #expect(plan.writes.count == 1 && plan.revisions.map(\.revision) == [1, 1])
    }

    /// What was complete stays complete: there is no item that takes a required answer away.
    @Test func noWriteMakesACompleteSessionIncomplete() {
        let questions = [
            question(.number, key: "must", required: true),
            question(.number, key: "mustOrDecline", required: true, declinable: true),
        ]
        let values: [JSONValue?] = [nil, .null, 1, 2, "x"]
        let states: [AnswerState?] = [nil, .answered, .skipped, .declined, .acknowledged]
        for declines in [true, false] {
            let before = [
                "must": answer(.answered, 1), "mustOrDecline": declines ? answer(.declined) : answer(.answered, 1),
            ]
            let sheet = AnswerSheet(definition: definition(questions), answers: before, today: testDay)
            for key in before.keys {
                for value in values {
                    for state in states {
                        let item = ResponseItem(question: key, value: value, state: state)
                        guard let plan = try? ResponsePlan.make([item], on: sheet, mutations: [], now: Self.now) else {
                            continue
                        }
                        let after = AnswerSheet(definition: sheet.definition, answers: plan.answers, today: testDay)
                        #expect(after.missing.isEmpty, "\(item)")
                    }
                }
            }
        }
    }
}
