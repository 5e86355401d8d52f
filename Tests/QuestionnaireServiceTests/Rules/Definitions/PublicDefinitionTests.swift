import JSONText
import Testing

@testable import QuestionnaireService

@Suite("what everybody may read of a definition") struct PublicDefinitionTests {
    /// The members that say how answers are judged and stored, who is asked what, and what happens to sessions.
    private static let hidden: Set<String> = [
        "score", "dimensions", "visibleIf", "requiredIf", "importance", "migrations", "policy", "extract", "sensitive",
    ]

    /// The opposite implementation of the rule: it removes what is hidden and keeps all the rest. Texts have keys of
    /// their own.
    private static func stripped(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map(stripped))
        case .object(let members):
            .object(
                members.filter { !hidden.contains($0.key) }.reduce(into: [:]) { shown, member in
                    shown[member.key] = member.key == "strings" ? member.value : stripped(member.value)
                })
        default: value
        }
    }

    @Test(arguments: QuestionnaireServiceDefinition.definitions)
    func aPublicDefinitionOmitsOnlyTheHiddenMembers(_ file: [UInt8]) throws {
        let whole = try JSONValue.parse(try DefinitionParser.parse(file).canonicalText, limits: DefinitionParser.limits)
        let shown = PublicDefinition.document(of: whole)
        #expect(shown == Self.stripped(whole))
        #expect(shown["sections"]?.arrayValue?.isEmpty == false)
    }

    /// Every member that a definition can have.
    @Test func everyMemberIsShownOrHidden() throws {
        let whole: JSONValue = [
            "key": "shoes", "version": 2, "derivedFrom": ["version": 1, "contentHash": "0a"], "titleKey": "t",
            "locales": ["en"], "defaultLocale": "en", "strings": ["en": ["score": "A text", "policy": "Another"]],
            "dimensions": [["key": "d", "method": "weighted_mean"]], "migrations": [["drop": ["question": "old"]]],
            "policy": ["drainDays": 3],
            "sections": [
                [
                    "key": "s", "titleKey": "t", "visibleIf": true, "repeat": ["subject": "child", "min": 0, "max": 3],
                    "questions": [
                        [
                            "key": "q", "slug": "q", "type": "single_choice", "textKey": "score", "helpKey": "policy",
                            "required": false, "skippable": true, "declinable": true, "default": "a",
                            "defaultCounts": true, "presentation": "chips", "constraints": ["other": ["maxCount": 1]],
                            "score": ["d": 2], "visibleIf": true, "requiredIf": false, "meaningRev": 2,
                            "extract": ["profileField": "bio"],
                            "preference": ["acceptable": true, "importance": [0, 9]],
                            "options": [
                                ["key": "a", "labelKey": "t", "exclusive": true, "score": ["d": 1], "visibleIf": true]
                            ],
                        ]
                    ],
                ]
            ],
        ]
        let shown = PublicDefinition.document(of: whole)
        #expect(shown == Self.stripped(whole))
        let question = shown["sections"]?.arrayValue?.first?["questions"]?.arrayValue?.first
        #expect(question?["preference"] == ["acceptable": true])
        #expect(question?["options"] == [["key": "a", "labelKey": "t", "exclusive": true]])
        #expect(PublicDefinition.document(of: ["key": "shoes", "later": 1]) == ["key": "shoes"], "not known here")
    }
}
