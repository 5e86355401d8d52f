import BusProtocol
import Cryptography
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

    @Test func aConflictNamesTheOtherDeviceAndMayBeForced() throws {
        var before = ["a": answer(.answered, 1, revision: 3)]
        before["a"]?.device = "iPad"
        var late = ResponseItem(question: "a", value: 2, baseRevision: 2, device: "  iPhone of Anna ")
        guard case .failure(let refusal) = Self.plan([late], on: before) else {
            Issue.record("an old revision was taken")
            return
        }
        #expect(
            refusal.busError.details?["current"] == [
                ["question": "a", "revision": 3, "state": "answered", "value": 1, "device": "iPad"]
            ])
        late.force = false
        #expect(
            Self.refusals([ResponseItem(question: "a", value: 2, baseRevision: 2, force: false)], on: before).first
                == "answer_conflict")
        late.force = true
        let forced = try Self.plan([late], on: before).get()
        #expect(forced.answers["a"]?.value == 2 && forced.answers["a"]?.revision == 4)
        #expect(forced.answers["a"]?.device == "iPhone of Anna")
    }

    /// A family is one character for a person, and seven for Unicode.
    @Test func aDeviceHasANameOfAtMost64Characters() throws {
        func item(_ device: String) -> ResponseItem { ResponseItem(question: "a", value: 1, device: device) }
        let families = String(repeating: "👨‍👩‍👧‍👦", count: 64)
        #expect(try Self.plan([item(families)]).get().answers["a"]?.device == families)
        for (name, code) in [(families + "x", "too_long"), ("  ", "too_short"), ("a\u{202e}b", "malformed")] {
            #expect(Self.refusals([item(name)]) == ["validation_failed", "answers.0.device \(code)"])
        }
    }

    /// Whatever an item has, its digest is that of its JSON in canonical form.
    @Test func aDigestIsOfTheCanonicalForm() throws {
        let id = try #require(Identifier("00112233-4455-6677-8899-aabbccddeeff"))
        var item = ResponseItem(question: "a\u{1}\"å😀")
        let changes: [(inout ResponseItem) -> Void] = [
            { $0.value = ["z": [1, 2.5, .null], "å": "\u{2028}", "a": true] }, { $0.state = .answered },
            { $0.subject = id }, { $0.mutationId = id }, { $0.baseRevision = 7 }, { $0.clientTime = Self.now },
            { $0.device = "Åsas \"phone\"" }, { $0.force = true },
            { $0.preference = AnswerPreference(acceptable: ["b", "a"], importance: 50) },
        ]
        for change in [{ _ in }] + changes {
            change(&item)
            let text = CanonicalJSON.bytes(of: try JSONValue.parse(try WireJSON.encode(item)))
            #expect(
                RecordedMutation.digest(of: item) == SHA256.digest(text), "\(String(decoding: text, as: UTF8.self))")
        }
    }

    /// Digests of writes from before there were devices are in the tables, so they must stay the same. Counted with
    /// Python's hashlib over the text of RFC 8785.
    @Test func digestsOfEarlierWritesStayTheSame() throws {
        let item = ResponseItem(
            question: "a", value: 1, state: .answered, mutationId: Identifier("019c2f00-0000-7000-8000-000000000007"),
            baseRevision: 0, clientTime: Timestamp("2026-02-20T09:00:00.125Z"))
        #expect(
            Hex.encode(RecordedMutation.digest(of: item))
                == "7997f2b118514809ac9de373e7a92ffb83135c35093278a99b6c5699b1f20bbe")
        var other = item
        other.device = "iPad"
        #expect(RecordedMutation.digest(of: other) != RecordedMutation.digest(of: item))
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

    @Test func aMutationTwiceInOneRequestIsAppliedOnce() throws {
        let item = ResponseItem(question: "a", value: 1, mutationId: .ordered())
        let plan = try Self.plan([item, item]).get()
        #expect(plan.writes.count == 1 && plan.revisions.map(\.revision) == [1, 1])
    }

    /// A complete session stays complete, because no item can remove a required answer.
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
