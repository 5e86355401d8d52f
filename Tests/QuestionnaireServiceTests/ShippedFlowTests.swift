import BusProtocol
import Foundation
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// The flows that are shipped beside the compatibility questionnaire.
@Suite("shipped flows") struct ShippedFlowTests {
    static let all = QuestionnaireServiceDefinition.definitions.dropFirst()

    private static func definition(_ key: String) throws -> Definition {
        try #require(try all.map { try DefinitionParser.parse($0) }.first { $0.key == key })
    }

    @Test func eachCanBePublishedWithoutAWarningInTwoLanguages() throws {
        for bytes in Self.all {
            let definition = try DefinitionParser.parse(bytes)
            let report = PublishGate.check(definition, today: testDay, declared: nil)
            #expect(report.problems == [] && report.warnings == [], "\(definition.key)")
            #expect(Set(definition.translations.keys) == ["en", "sv"])
            for question in definition.questions where question.kind.hasOptions {
                #expect(Set(question.options.map(\.key)).count == question.options.count)
            }
        }
    }

    // MARK: Skin care, of which every set of answered steps is looked at

    /// The order of the source, written down here once more.
    private static let steps = [
        "gender", "birthdate", "skinType", "skinConcerns", "skinGoals", "menstrualCycle", "foodAllergies",
        "productAllergies", "goalTimeline", "currentRoutine", "routineEffectiveness", "familyHistory",
    ]
    private static let slugs = [
        "gender", "birthdate", "skin-type", "skin-concerns", "skin-goals", "menstrual-cycle", "food-allergies",
        "product-allergies", "goal-timeline", "current-routine", "routine-effectiveness", "family-history",
    ]
    private static let needed: Set<String> = [
        "gender", "birthdate", "skinType", "skinConcerns", "skinGoals", "goalTimeline",
    ]

    private static func valid(_ question: Question) -> JSONValue {
        switch question.kind {
        case .singleChoice: .string(question.options[0].key)
        case .multiChoice:
            .array(question.options.prefix(question.constraints.min?.whole ?? 1).map { .string($0.key) })
        case .slider: 7
        case .date: "1994-02-28"
        case .boolean: true
        case .height: ["unit": "in", "value": 66]
        default: "Alva"
        }
    }

    @Test func all3072SubsetsOfTheSkinFlow() throws {
        let definition = try Self.definition("skin-care")
        #expect(definition.questions.map(\.key) == Self.steps && definition.questions.map(\.slug) == Self.slugs)
        var looked = 0
        for gender in ["female", "male"] {
            // What this person is asked, by the source: 12 screens for her, 11 for him.
            let path = Self.steps.filter { $0 != "menstrualCycle" || gender == "female" }
            for subset in 0..<(1 << (path.count - 1)) {
                let answered = Set(path.dropFirst().enumerated().filter { subset >> $0.offset & 1 == 1 }.map(\.element))
                    .union(["gender"])
                var answers: [String: Answer] = [:]
                for question in definition.questions where answered.contains(question.key) {
                    let value = question.key == "gender" ? .string(gender) : Self.valid(question)
                    answers[question.key] = answer(.answered, value)
                }
                let sheet = AnswerSheet(definition: definition, answers: answers, today: testDay)
                #expect(sheet.visible.map(\.key) == path)
                #expect(sheet.next?.key == path.first { !answered.contains($0) })
                #expect(sheet.progress.answered == Int64(answered.count) && sheet.progress.total == Int64(path.count))
                let missing = path.filter { Self.needed.contains($0) && !answered.contains($0) }
                #expect(sheet.missing.map(\.question) == missing)
                #expect(sheet.progress.requiredRemaining == Int64(missing.count))
                looked += 1
            }
        }
        #expect(looked == 3072)
    }

    @Test func backFromTheFoodAllergiesLeadsToThePreviousScreen() throws {
        let definition = try Self.definition("skin-care")
        for (gender, back) in [("female", "menstrualCycle"), ("male", "skinGoals"), ("non_binary", "skinGoals")] {
            let sheet = AnswerSheet(
                definition: definition, answers: ["gender": answer(.answered, .string(gender))], today: testDay)
            let asked = sheet.asked.map(\.question)
            let place = try #require(asked.firstIndex(of: "foodAllergies"))
            #expect(asked[place - 1] == back)
        }
    }

    // MARK: To the end, on every path

    /// Answers the next question until there is none. Where the path depends on a choice, it takes the given one.
    private func walk(_ definition: Definition, children: Int, choosing choices: [String: JSONValue]) throws -> Int {
        var sheet = AnswerSheet(definition: definition, answers: [:], today: testDay)
        var (subjects, steps): ([Subject], Int) = ([], 0)
        while let next = sheet.next {
            steps += 1
            try #require(steps < 500)
            if next.reason == .subjectWanted {
                subjects.append(Subject(id: .ordered(), kind: "child", position: Int64(subjects.count + 1)))
            } else {
                let item = try #require(sheet.item(at: AnswerPlace(next.question, of: next.subject)))
                // An optional screen is seen and left empty; everything else is answered.
                let isLeft = !item.required && choices[next.question] == nil
                let state: AnswerState = isLeft ? (item.skippable ? .skipped : .acknowledged) : .answered
                let value: JSONValue? = isLeft ? .none : choices[next.question] ?? Self.valid(item.question)
                let write = ResponseItem(
                    question: next.question, subject: next.subject, value: value, state: state)
                let plan = try ResponsePlan.make(
                    [write], on: sheet, mutations: [], now: Timestamp(microsecondsSinceEpoch: 0))
                sheet = AnswerSheet(definition: definition, answers: plan.answers, today: testDay)
            }
            while subjects.count < children, !subjects.isEmpty {
                subjects.append(Subject(id: .ordered(), kind: "child", position: Int64(subjects.count + 1)))
            }
            sheet = AnswerSheet(definition: definition, answers: sheet.answers, subjects: subjects, today: testDay)
        }
        #expect(sheet.missing == [] && sheet.progress.percentage == 100)
        return steps
    }

    @Test func everyPathEndsAfterItsNumberOfSteps() throws {
        let skin = try Self.definition("skin-care")
        for option in skin.questions[0].options {
            let steps = try walk(skin, children: 0, choosing: ["gender": .string(option.key)])
            #expect(steps == (option.key == "female" ? 12 : 11))
        }
        let family = try Self.definition("eko-family")
        // The parent's name, the first child's own step, and seven questions for each child.
        for children in [1, 2, 20] { #expect(try walk(family, children: children, choosing: [:]) == 2 + 7 * children) }
        let wizard = try Self.definition("realsingles-profile")
        #expect(try walk(wizard, children: 0, choosing: [:]) == wizard.questions.count)
    }

    @Test func thePhotoQuestionIsAnUploadDespiteItsFieldPresentation() throws {
        let definition = try Self.definition("realsingles-profile")
        #expect(definition.questions.filter(\.isUpload).map(\.key) == ["photo"])
        let photo = try #require(definition.questions.first { $0.key == "photo" })
        #expect(QuestionConstraints(photo).format == "media_id" && photo.control == "upload")
        #expect(photo.presentation == "field", "open sessions of this version have the upload, too")
    }

    @Test func defaultDispositionsAreValidAndGoalsAndTopicsBounded() throws {
        let family = try Self.definition("eko-family")
        let child = Subject(id: .ordered(), kind: "child", position: 1)
        func problems(_ question: String, _ value: JSONValue) -> [ItemOutcome] {
            let sheet = AnswerSheet(definition: family, answers: [:], subjects: [child], today: testDay)
            let item = ResponseItem(question: question, subject: child.id, value: value)
            return ResponsePlan.each([item], on: sheet, mutations: [], now: Timestamp(microsecondsSinceEpoch: 0))
                .outcomes.filter { $0.refusal != nil }
        }
        #expect(problems("childGoals", ["wellbeing", ["other": "Läsa <ihop> & skratta 🐻"]]).isEmpty)
        #expect(problems("childGoals", [["other": "a"], ["other": "b"]]).count == 1)
        #expect(problems("childGoals", ["wellbeing", "life_skills", "deeper_connection", ["other": "a"]]).count == 1)
        #expect(problems("childTopics", ["school", "future"]).count == 1)
        let topics = family.questions.first { $0.key == "childTopics" }?.options.map { JSONValue.string($0.key) } ?? []
        #expect(topics.count == 12 && problems("childTopics", .array(topics)).isEmpty)
        #expect(problems("childBirthday", .string(testDay.description)).isEmpty, "born today")
        #expect(problems("childBirthday", "2026-03-02").count == 1, "not born yet")
        #expect(problems("childName", .string(String(repeating: "Å", count: 150))).isEmpty)
        #expect(problems("childName", "   ").count == 1)

        var answers: [String: Answer] = ["parentName": answer(.answered, "Kim")]
        for (key, value) in [
            ("childName", "Alva"), ("childBirthday", "2019-05-04"), ("childGoals", ["wellbeing"]),
            ("childTopics", ["school", "future", "family"]),
        ] as [(String, JSONValue)] {
            answers["\(key)/\(child.id)"] = answer(.answered, value)
        }
        let sheet = AnswerSheet(definition: family, answers: answers, subjects: [child], today: testDay)
        #expect(sheet.missing == [] && sheet.next?.question == "temperamentTalkative", "shown, and not missing")
        let talkative = try #require(sheet.item(at: AnswerPlace("temperamentTalkative", of: child.id)))
        #expect(talkative.effectiveValue == 5)
    }
}
