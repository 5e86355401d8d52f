import Documents
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("differences between versions of a plan") struct PlanDifferenceTests {
    static let base: JSONValue = [
        "key": "garden", "version": 1, "apps": ["garden", "balcony"], "entries": ["fair", "post"],
        "locales": ["en", "sv"], "defaultLocale": "en",
        "signIn": ["titleKey": "account", "methods": ["google", "apple"], "phone": "optional"],
        "age": ["minimum": 18, "under": "soft_block"],
        "steps": [
            [
                "key": "profile", "need": "required",
                "screens": [
                    [
                        "key": "name", "titleKey": "name",
                        "fields": [
                            ["field": "displayName", "need": "required", "maxLength": 20],
                            ["field": "firstName"], ["field": "gender", "options": ["male", "female"]],
                        ],
                    ],
                    [
                        "key": "more", "titleKey": "more",
                        "fields": [
                            ["field": "dateOfBirth", "need": "required"], ["field": "bio", "need": "encouraged"],
                        ],
                    ],
                ],
            ],
            ["key": "survey", "need": "required", "questionnaire": "garden"],
            ["key": "verified", "need": "optional", "task": "verification"],
        ],
        "capabilities": ["browse": [:], "like": ["due": ["displayName", "bio"], "wanted": ["firstName"]]],
        "policy": ["repromptAfterSeconds": 604_800],
        "strings": [
            "en": ["account": "Account", "name": "Name", "more": "More", "label": "What we call you"],
            "sv": ["account": "Konto", "name": "Namn", "more": "Mer", "label": "Vad du kallas"],
        ],
    ]

    /// A value with one part replaced, or removed where the new part is `nil`. A path has member names and places.
    private static func edited(_ value: JSONValue, _ path: ArraySlice<Substring>, _ part: JSONValue?) -> JSONValue? {
        guard let name = path.first else { return part }
        if var elements = value.arrayValue, let place = Int(name) {
            let new = edited(place < elements.count ? elements[place] : .null, path.dropFirst(), part)
            elements.replaceSubrange(place..<min(place + 1, elements.count), with: [new].compactMap(\.self))
            return .array(elements)
        }
        var members = value.objectValue ?? [:]
        members[String(name)] = edited(members[String(name)] ?? .null, path.dropFirst(), part)
        return .object(members)
    }

    private static func changes(_ edits: [(String, JSONValue?)]) throws -> [PlanChange] {
        let new = edits.reduce(base) { edited($0, $1.0.split(separator: ".")[...], $1.1) ?? .null }
        let library = try FieldLibrary.shipped.get().library
        return PlanDifference(from: try PlanDocument(base).file, to: try PlanDocument(new).file, library).changes
    }

    private static let (screens, fields) = ("steps.0.screens", "steps.0.screens.0.fields")
    private static let first = "/steps/0/screens/0/fields/0"

    private static func part(_ path: String) -> JSONValue {
        path.split(separator: ".").reduce(base) { value, name in
            (Int(name).flatMap { value.arrayValue?[$0] } ?? value[String(name)]) ?? .null
        }
    }

    /// One edit of the base for each kind, the class that the rules give it, and where it is.
    private static let edits: [(PlanChangeKind, ChangeClass, String, [(String, JSONValue?)])] = [
        (.stringChanged, .editorial, "/strings/sv/name", [("strings.sv.name", "Vad heter du?")]),
        (.titleChanged, .editorial, "/steps/0/screens/0/titleKey", [("\(screens).0.titleKey", "label")]),
        (.titleChanged, .editorial, "/signIn/titleKey", [("signIn.titleKey", "label")]),
        (.labelChanged, .editorial, "\(first)/labelKey", [("\(fields).0.labelKey", "label")]),
        (.stepOrder, .editorial, "/steps", [("steps.1", part("steps.2")), ("steps.2", part("steps.1"))]),
        (
            .screens, .editorial, "/steps",
            [("\(screens).0", part("\(screens).1")), ("\(screens).1", part("\(screens).0"))]
        ),
        (.screens, .editorial, "/steps", [("\(fields).1", part("\(fields).2")), ("\(fields).2", part("\(fields).1"))]),
        (.appOrder, .editorial, "/apps", [("apps", ["balcony", "garden"])]),

        (.optionalStepAdded, .additive, "/steps/3", [("steps.3", task("encouraged"))]),
        (.optionalFieldAdded, .additive, "/steps/0/screens/0/fields/3", [("\(fields).3", ["field": "lastName"])]),
        (.needLowered, .additive, "/steps/1/need", [("steps.1.need", "encouraged")]),
        (.needLowered, .additive, "\(first)/need", [("\(fields).0.need", "optional")]),
        (.needLowered, .additive, "/steps/0/screens/1/fields/1/need", [("\(screens).1.fields.1.need", nil)]),
        (.needEncouraged, .additive, "/steps/2/need", [("steps.2.need", "encouraged")]),
        (
            .localeAdded, .additive, "/locales/2",
            [("locales.2", "de"), ("strings.de", part("strings.sv"))]
        ),
        (.appAdded, .additive, "/apps/2", [("apps.2", "roof")]),
        (.entryAdded, .additive, "/entries/2", [("entries.2", "friend")]),
        (.boundWidened, .additive, "\(first)/maxLength", [("\(fields).0.maxLength", 30)]),
        (.boundWidened, .additive, "\(first)/maxLength", [("\(fields).0.maxLength", nil)]),
        (.optionsAdded, .additive, "/steps/0/screens/0/fields/2/options", [("\(fields).2.options", nil)]),
        (.capabilityAdded, .additive, "/capabilities/match", [("capabilities.match", [:])]),
        (.capabilityNeedsFewer, .additive, "/capabilities/like/due/1", [("capabilities.like.due", ["displayName"])]),
        (.capabilityWants, .additive, "/capabilities/like/wanted/0", [("capabilities.like.wanted", nil)]),
        (.methodAdded, .additive, "/signIn/methods/2", [("signIn.methods.2", "email_code")]),
        (.phoneNotRequired, .additive, "/signIn/phone", [("signIn.phone", "none")]),
        (.policyChanged, .additive, "/policy", [("policy.repromptAfterSeconds", 7200)]),

        (.requiredStepAdded, .reask, "/steps/3", [("steps.3", task("required"))]),
        (
            .requiredFieldAdded, .reask, "/steps/0/screens/0/fields/3",
            [("\(fields).3", ["field": "lastName", "need": "required"])]
        ),
        (.needRequired, .reask, "/steps/2/need", [("steps.2.need", "required")]),
        (.needRequired, .reask, "/steps/0/screens/0/fields/1/need", [("\(fields).1.need", "required")]),
        (.needRequired, .reask, "/steps/0/screens/1/fields/1/need", [("\(screens).1.fields.1.need", "required")]),
        (.stepCondition, .reask, "/steps/2/visibleIf", [("steps.2.visibleIf", ["answered": "displayName"])]),
        (.boundNarrowed, .reask, "\(first)/maxLength", [("\(fields).0.maxLength", 10)]),
        (.boundNarrowed, .reask, "\(first)/minLength", [("\(fields).0.minLength", 3)]),
        (.optionsRemoved, .reask, "/steps/0/screens/0/fields/2/options", [("\(fields).2.options", ["male"])]),
        (
            .capabilityNeedsMore, .reask, "/capabilities/like/due/2",
            [("capabilities.like.due.2", "gender")]
        ),
        (.ageRule, .reask, "/age", [("age.minimum", 21)]),
        (.ageRule, .reask, "/age", [("age.under", "refuse")]),
        (.ageRule, .reask, "/age", [("age", nil)]),
        (.methodRemoved, .reask, "/signIn/methods/1", [("signIn.methods", ["google"])]),
        (.phoneRequired, .reask, "/signIn/phone", [("signIn.phone", "required")]),
        (.appRemoved, .reask, "/apps/1", [("apps", ["garden"])]),
        (.entryRemoved, .reask, "/entries/1", [("entries", ["fair"])]),
        (.dateChanged, .reask, "/steps/1/dueAt", [("steps.1.dueAt", "2026-12-08T09:00:00Z")]),
        (.dateChanged, .reask, "\(first)/dueAt", [("\(fields).0.dueAt", "2026-12-08T09:00:00Z")]),

        (.stepRemoved, .breaking, "/steps/2", [("steps.2", nil)]),
        (.fieldRemoved, .breaking, "/steps/0/screens/0/fields/1", [("\(fields).1", nil)]),
        (.stepKind, .breaking, "/steps/2", [("steps.2.task", "visual_preferences")]),
        (
            .stepKind, .breaking, "/steps/2",
            [("steps.2", ["key": "verified", "need": "optional", "questionnaire": "q"])]
        ),
        (.stepQuestionnaire, .breaking, "/steps/1/questionnaire", [("steps.1.questionnaire", "meadow")]),
        (.capabilityRemoved, .breaking, "/capabilities/browse", [("capabilities.browse", nil)]),
        (.lastAppRemoved, .breaking, "/apps/0", [("apps", [])]),
        (.peopleMoved, .breaking, "/moves", [("moves", ["from": [1]])]),

        (.unlisted, .reask, "/locales/1", [("locales", ["en"]), ("strings.sv", nil)]),
        (.unlisted, .reask, "/defaultLocale", [("defaultLocale", "sv")]),
    ]

    private static func task(_ need: String) -> JSONValue {
        ["key": "looks", "need": .string(need), "task": "visual_preferences"]
    }

    @Test func eachKindHasItsClassAndPlace() throws {
        for (kind, changeClass, pointer, edit) in Self.edits {
            let changes = try Self.changes(edit)
            let found = changes.filter { $0.kind == kind }
            #expect(found.contains { $0.pointer == pointer && $0.changeClass == changeClass }, "\(kind): \(changes)")
            #expect(changes.allSatisfy { $0.kind == kind }, "\(kind): \(changes)")
        }
        // The kinds about texts to accept have a test beside the other tests of such texts.
        let kinds = Self.edits.map(\.0) + [.termsChanged, .termsMoved]
        #expect(difference(between: kinds.map(\.rawValue), and: PlanChangeKind.allCases.map(\.rawValue)) == [])
    }

    @Test func aPlanDoesNotDifferFromItself() throws {
        #expect(try Self.changes([]).isEmpty)
        // What the library says of a field is the same whether the plan repeats it or not.
        #expect(try Self.changes([("\(Self.fields).1.maxLength", 50)]).isEmpty)
    }

    /// A field that waited in an optional step waits for everybody once it stands in a required one.
    @Test func aRequiredFieldThatMovesToARequiredStepIsAskedAgain() throws {
        let library = try FieldLibrary.shipped.get().library
        func plan(_ order: [String]) throws -> PlanFile {
            let screens: [String: JSONValue] = [
                "asked": [["key": "a", "titleKey": "name", "fields": [["field": "displayName", "need": "required"]]]],
                "spare": [["key": "b", "titleKey": "name", "fields": [["field": "bio"]]]],
            ]
            let steps: [JSONValue] = zip(["must", "may"], ["required", "optional"]).enumerated().map { place, step in
                ["key": .string(step.0), "need": .string(step.1), "screens": screens[order[place]] ?? .null]
            }
            return try PlanDocument(Self.edited(Self.base, ["steps"], .array(steps)) ?? .null).file
        }
        let changes = PlanDifference(from: try plan(["spare", "asked"]), to: try plan(["asked", "spare"]), library)
            .changes
        #expect(Set(changes.map(\.kind)) == [.needRequired, .screens])
        let back = PlanDifference(from: try plan(["asked", "spare"]), to: try plan(["spare", "asked"]), library).changes
        #expect(Set(back.map(\.kind)) == [.screens])
    }
}

@Suite("a plan beside others") struct PlanNeighboursTests {
    private static func problems(
        _ key: String, apps: [String] = [], entries: [String] = [], questionnaires: Set<String>?
    ) throws -> [String] {
        var members = PlanDifferenceTests.base.objectValue ?? [:]
        members["key"] = .string(key)
        members["apps"] = .array(apps.map { .string($0) })
        members["entries"] = .array(entries.map { .string($0) })
        let other = try PlanDocument(PlanDifferenceTests.base).file
        let neighbours = PlanNeighbours(plans: [other], questionnaires: questionnaires)
        return neighbours.problems(in: try PlanDocument(.object(members)).file).map { "\($0.code) \($0.pointer)" }
    }

    @Test func anAppAndAnEntryLeadToOnePlan() throws {
        #expect(
            try Self.problems("roof", apps: ["roof", "balcony"], entries: ["fair"], questionnaires: ["garden"])
                == ["duplicate_app /apps/1", "duplicate_entry /entries/0"])
        #expect(
            try Self.problems("garden", apps: ["garden"], entries: ["fair"], questionnaires: ["garden"]).isEmpty,
            "its own newest version is no other plan")
    }

    @Test func aQuestionnaireMustBeThere() throws {
        #expect(
            try Self.problems("roof", questionnaires: ["meadow"]) == ["unknown_questionnaire /steps/1/questionnaire"])
        #expect(try Self.problems("roof", questionnaires: nil).isEmpty)
    }
}
