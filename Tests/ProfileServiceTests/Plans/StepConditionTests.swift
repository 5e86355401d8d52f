import BusProtocol
import Documents
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("conditions of steps") struct StepConditionTests {
    private static let now = Timestamp("2026-02-20T09:00:00Z")!
    private static let today = CivilDate("2026-02-20")!

    /// The plan eko-family with more steps behind its first two.
    private static func plan(_ more: [JSONValue], capabilities: JSONValue? = nil) throws -> PlanDocument {
        var members = try #require(JSONValue.parse(EmbeddedFiles.Plans.eko_family.bytes).objectValue)
        let steps = try #require(members["steps"]?.arrayValue)
        members["steps"] = .array(steps + more)
        members["capabilities"] = capabilities
        return try PlanDocument(.object(members))
    }

    private static func screen(_ key: JSONValue, _ fields: [JSONValue]) -> JSONValue {
        [["key": key, "titleKey": "screen.about_you", "fields": .array(fields)]]
    }

    private static func parse(_ document: PlanDocument) throws -> Plan {
        try PlanParser.parse(document, FieldLibrary.shipped.get().library)
    }

    private static func record(_ fields: FieldStates = [:]) -> ProfileRecord {
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        record.fields = fields
        record.questionnaires["eko-family"] = now
        return record
    }

    @Test func aHiddenStepIsNotAskedForAndAShownOneIs() throws {
        let plan = try Self.parse(
            Self.plan(
                [
                    [
                        "key": "more", "need": "required", "visibleIf": ["==": [["var": "hasKids"], true]],
                        "screens": Self.screen("more", [["field": "gender", "need": "required"], ["field": "bio"]]),
                    ],
                    [
                        "key": "verified", "need": "required", "task": "verification",
                        "visibleIf": ["any_in": [["var": "pets"], ["dogs", "cats"]]],
                    ],
                ], capabilities: ["like": ["due": ["gender", "verified"]], "match": ["due": ["bio"]]]))
        func keys(_ record: ProfileRecord) -> [String] {
            Onboarding.view(of: record, plan, today: Self.today).steps.map(\.key)
        }
        let unknown = Self.record()
        #expect(keys(unknown) == ["account", "questionnaire", "profile"])
        #expect(Onboarding.view(of: unknown, plan, today: Self.today).onboardingStatus == "complete")
        #expect(plan.completion.completion(of: unknown, now: Self.now).missingRequired == [])
        var needs = RequirementRules.requirements(of: unknown, plan, today: Self.today, now: Self.now)
        #expect(needs.like.currentlyDue == [] && needs.like.disabledReason == nil)
        #expect(needs.match.currentlyDue == [])
        // A declined field has no value either.
        #expect(keys(Self.record(["hasKids": .declined])) == ["account", "questionnaire", "profile"])

        let parent = Self.record(["hasKids": .answered(true), "pets": .answered(["dogs"])])
        #expect(keys(parent) == ["account", "questionnaire", "profile", "more", "verified"])
        let view = Onboarding.view(of: parent, plan, today: Self.today)
        #expect(view.resumeAt == "more" && view.onboardingStatus == "questionnaire_pending")
        #expect(plan.completion.completion(of: parent, now: Self.now).missingRequired == ["gender"])
        #expect(!plan.completion.isComplete(parent))
        needs = RequirementRules.requirements(of: parent, plan, today: Self.today, now: Self.now)
        #expect(needs.like.currentlyDue == ["gender", "verified"] && needs.match.currentlyDue == ["bio"])

        // The screen says to which step it belongs, so that an app leaves it out.
        let screens = plan.catalogue.views[0].steps
        #expect(screens.map(\.onboardingStep) == [nil, "profile", "more"])
    }

    @Test(
        "a condition that cannot be judged is refused",
        arguments: [
            (["==": [["var": "shoeSize"], 1]], "E02", "/==/0/var"), (["answered": "shoeSize"], "E02", "/answered"),
            (["answered": "bio"], "E04", "/answered"), (["==": [["var": "motto"], "x"]], "E02", "/==/0/var"),
            (["==": [["var": "gender"], "unicorn"]], "E03", "/==/1"),
            (["==": [["var": "hasKids"], "yes"]], "E05", "/==/1"),
            (["==": [["var": "pets"], "dogs"]], "E05", "/==/0/var"),
            (["any_in": [["var": "gender"], ["male"]]], "E05", "/any_in/0/var"), (["var": "gender"], "E05", "/var"),
            (["ctx": "locale"], "malformed", "/ctx"), (["count": "pets"], "E05", "/count"), ("yes", "malformed", ""),
            ([">": [["age_years": "dateOfBirth"], 30]], "E05", "/>/0/age_years"),
        ] as [(JSONValue, String, String)])
    func refused(condition: JSONValue, code: String, pointer: String) throws {
        let document = try Self.plan([
            [
                "key": "more", "need": "optional", "visibleIf": condition,
                "screens": Self.screen("more", [["field": "gender"]]),
            ]
        ])
        // The condition of the third step cannot use what that step asks for.
        let later: JSONValue = [
            "key": "more", "need": "optional", "visibleIf": condition,
            "screens": Self.screen("more", [["field": "bio"]]),
        ]
        let refused = code == "E04" || code == "E03" || code == "E05" ? try Self.plan([later]) : document
        let error = #expect(throws: DocumentError.self) { try Self.parse(refused) }
        #expect(error?.problems.map { "\($0.code) \($0.pointer)" } == ["\(code) /steps/2/visibleIf\(pointer)"])
    }

    @Test func aPlanNeedsAnUnconditionalRequiredStep() throws {
        var members = try #require(JSONValue.parse(EmbeddedFiles.Plans.eko_family.bytes).objectValue)
        var steps = try #require(members["steps"]?.arrayValue)
        steps[0] = [
            "key": "questionnaire", "questionnaire": "eko-family", "need": "required",
            "visibleIf": ["answered": "hasKids"],
        ]
        members["steps"] = .array(steps)
        let document = try PlanDocument(.object(members))
        let error = #expect(throws: DocumentError.self) { try Self.parse(document) }
        #expect(error?.problems.map(\.code) == ["nothing_required"])
    }

    /// Declining, skipping or never answering the field would hide the step, and nobody would have to do it.
    @Test func requiredStepsDependOnlyOnRequiredAnswers() throws {
        func problems(
            _ step: JSONValue, _ condition: JSONValue, asked: [String: JSONValue] = ["need": "required"]
        ) throws -> [String] {
            var members = try #require(step.objectValue)
            (members["key"], members["visibleIf"]) = ("more", condition)
            let fields: [JSONValue] = ["pets", "hasKids"].map { ["field": .string($0), "need": "required"] }
            let earlier: [String: JSONValue] = [
                "key": "asked", "screens": Self.screen("asked", fields + [["field": "city"]]),
            ]
            let document = try Self.plan([.object(earlier.merging(asked) { $1 }), .object(members)])
            return PlanPublication.problems(in: document, try FieldLibrary.shipped.get().library, beside: nil)
                .map { "\($0.code) \($0.pointer) \($0.keys.joined())" }
        }
        let kids: JSONValue = ["and": [["answered": "pets"], ["not": ["==": [["var": "hasKids"], true]]]]]
        let verification: JSONValue = ["need": "required", "task": "verification"]
        let terms: JSONValue = [["document": "terms", "version": "1", "url": "https://example.com/terms"]]
        let declinable = ["declinable_field /steps/3/visibleIf hasKids"]
        #expect(try problems(verification, kids) == declinable)
        #expect(try problems(["need": "optional", "terms": terms], kids) == declinable)
        #expect(try problems(["need": "optional", "task": "verification"], kids) == [])
        let pets: JSONValue = ["answered": "pets"]
        #expect(try problems(["need": "required", "terms": terms], pets) == [])

        let skippable = ["skippable_field /steps/3/visibleIf pets"]
        #expect(try problems(verification, pets, asked: ["need": "optional"]) == skippable)
        #expect(
            try problems(verification, pets, asked: ["need": "required", "visibleIf": ["answered": "displayName"]])
                .contains(skippable[0]))
        for field in ["city", "bio"] {
            #expect(
                try problems(verification, ["answered": .string(field)])
                    .contains("skippable_field /steps/3/visibleIf \(field)"))
        }
        #expect(try problems(["need": "encouraged", "task": "verification"], ["answered": "bio"]) == [])
    }

    // MARK: Oracle

    /// Evaluates a condition from its JSON and the values alone, without code of the product.
    private static func oracle(_ json: JSONValue, _ values: [String: JSONValue]) -> Bool? {
        if let constant = json.boolValue { return constant }
        guard let (name, inner) = json.objectValue?.first else { return nil }
        let parts = inner.arrayValue ?? []
        switch name {
        case "and":
            let truths = parts.map { oracle($0, values) }
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case "or":
            let truths = parts.map { oracle($0, values) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case "not": return oracle(inner, values).map { !$0 }
        case "answered": return values[inner.stringValue ?? ""] != nil
        case "var": return values[inner.stringValue ?? ""].map { $0 == true }
        default:
            guard let value = values[parts[0]["var"]?.stringValue ?? ""] else { return nil }
            switch name {
            case "==": return value == parts[1]
            case ">": return (value.integerValue ?? 0) > (parts[1].integerValue ?? 0)
            case "any_in": return (value.arrayValue ?? []).contains { (parts[1].arrayValue ?? []).contains($0) }
            default: return (parts[1].arrayValue ?? []).contains(value)
            }
        }
    }

    private static func condition(_ depth: Int, _ random: inout some RandomNumberGenerator) -> JSONValue {
        let leaves: [JSONValue] = [
            ["answered": "gender"], ["var": "hasKids"], ["==": [["var": "gender"], "female"]],
            [">": [["var": "heightInches"], 66]], ["any_in": [["var": "pets"], ["dogs", "cats"]]],
            ["in": [["var": "gender"], ["male", "other"]]], true, false,
        ]
        let kind = depth == 0 ? 3 : Int.random(in: 0..<5, using: &random)
        switch kind {
        case 0, 1:
            let parts = (0..<Int.random(in: 1...2, using: &random)).map { _ in condition(depth - 1, &random) }
            return [(kind == 0 ? "and" : "or"): .array(parts)]
        case 2: return ["not": condition(depth - 1, &random)]
        default: return leaves.randomElement(using: &random)!
        }
    }

    /// The steps that are listed, the one that is next and the completion, of random people and random conditions.
    @Test func conditionalStepsAgreeWithAnOracle() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<Rounds.count(60, prove: 2000) {
            let conditions = (0..<2).map { _ in Self.condition(3, &random) }
            let plan = try Self.parse(
                Self.plan(
                    [
                        [
                            "key": "more", "need": "required", "visibleIf": conditions[0],
                            "screens": Self.screen("more", [["field": "bio", "need": "required"]]),
                        ],
                        ["key": "verified", "need": "required", "visibleIf": conditions[1], "task": "verification"],
                    ], capabilities: ["match": ["due": ["bio"]]]))
            for _ in 0..<10 {
                var values: [String: JSONValue] = [
                    "gender": .string(["male", "female", "other"].randomElement(using: &random)!),
                    "hasKids": .bool(.random(using: &random)),
                    "heightInches": .integer(.random(in: 60...72, using: &random)),
                    "pets": [["dogs"], ["cats"], ["birds"]].randomElement(using: &random)!,
                ]
                for key in values.keys where Bool.random(using: &random) { values[key] = nil }
                let answers = values.reduce(into: FieldStates()) { $0[$1.key] = .answered($1.value) }
                let record = Self.record(answers)
                let shown = conditions.map { Self.oracle($0, values) == true }
                let view = Onboarding.view(of: record, plan, today: Self.today)
                let more = zip(["more", "verified"], shown).filter(\.1).map(\.0)
                #expect(view.steps.map(\.key) == ["account", "questionnaire", "profile"] + more)
                #expect(view.resumeAt == more.first && (view.onboardingStatus == "complete") == more.isEmpty)
                #expect(plan.completion.isComplete(record) == !shown[0])
                let needs = RequirementRules.requirements(of: record, plan, today: Self.today, now: Self.now)
                #expect(needs.match.currentlyDue == (shown[0] ? ["bio"] : []))
            }
        }
    }
}
