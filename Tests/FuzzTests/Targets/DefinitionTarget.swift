import Documents
import JSONText

@testable import QuestionnaireService

/// A text that begins with `{` is read as the file of a definition. Any other bytes edit one that is right, four bytes an
/// edit: a fuzzer that changes single characters hardly ever gets past the form of the file. Each problem that is found has a place
/// and can be shown, and a definition that is read has one canonical form.
func checkDefinition(_ bytes: [UInt8]) throws {
    let text = bytes.first == UInt8(ascii: "{") ? bytes : CanonicalJSON.bytes(of: edited(template, by: bytes))
    var definition: Definition?
    let check = DocumentCheck(text) { draft in
        do throws(DefinitionError) {
            definition = try DefinitionParser.parse(CanonicalJSON.bytes(of: draft))
            return DocumentReport()
        } catch {
            return DocumentReport(problems: error.problems)
        }
    }
    let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
    try promise(
        check.findings.allSatisfy { (1...lines).contains($0.line) && (1...text.count + 1).contains($0.column) },
        "A problem has no place.")
    try promise(check.lines(of: "f").count > check.findings.count, "The problems cannot be shown.")
    guard let definition else { return try promise(check.errorCount > 0, "A definition is refused for no reason.") }
    let again = try DefinitionParser.parse(definition.canonicalText)
    try promise(again.canonicalText == definition.canonicalText, "The canonical form has two forms.")
    try promise(again.hash == definition.hash, "A definition changes when it is written.")
    try promise(Set(definition.questions.map(\.key)).count == definition.questions.count, "A key stands twice.")
}

/// The value after the edits that the bytes say: the first byte of an edit says what is done, the second and the third to
/// which value in it, and the fourth with what.
private func edited(_ value: JSONValue, by bytes: [UInt8]) -> JSONValue {
    var value = value
    for start in stride(from: 0, to: bytes.count - 3, by: 4) {
        let parts = value.parts
        guard parts.count <= 2000 else { break }
        let (place, argument) = (Int(bytes[start + 1]) << 8 | Int(bytes[start + 2]), Int(bytes[start + 3]))
        let other = parts[(argument * 7 + Int(bytes[start + 2])) % parts.count]
        let edit = Edit(bytes[start], argument: argument, other: other)
        var index = place % parts.count
        if case .shift = edit {
            let integers = parts.indices.filter { parts[$0].integerValue != nil }
            guard !integers.isEmpty else { continue }
            index = integers[place % integers.count]
        }
        value = value.edited(&index, edit) ?? .null
    }
    return value
}

private enum Edit {
    case remove, replace(JSONValue), add(String, JSONValue)
    /// An integer becomes another one near it: bounds then meet or cross.
    case shift(Int64)

    init(_ code: UInt8, argument: Int, other: JSONValue) {
        let word = words[argument % words.count]
        self =
            switch code % 7 {
            case 0: .remove
            case 1: .replace(other)
            case 2: .replace(literals[argument % literals.count])
            case 3: .replace(.string(word))
            case 4: .add(word, other)
            case 5: .add(word, literals[argument / 7 % literals.count])
            default: .shift(Int64(argument % 16) - 8)
            }
    }
}

private let literals: [JSONValue] = [
    nil, true, false, 0, 1, -1, 2, 3, 500, 501, 2_147_483_648, 9_223_372_036_854_775_807, 0.5, 0.0001, 1e300, "", [],
    [:],
    ["var": "goals"], ["ctx": "locale"], ["profile": "gender"], ["==": [["var": "goals"], "a"]],
    ["and": [true, ["not": false]]], ["any_in": [["var": "goals"], ["a", "b"]]], ["in": [["var": "mood"], [1, 2]]],
    ["<": [["age": ["var": "born"]], 18]], ["count": [["var": "goals"]]],
]

private let words = [
    "a", "b", "goals", "mood", "born", "none", "child", "title", "q", "en", "sv", "visibleIf", "requiredIf", "repeat",
    "constraints", "options", "score", "default", "defaultCounts", "preference", "extract", "sensitive", "required",
    "skippable", "declinable", "pattern", "min", "max", "step", "topK", "minLength", "maxLength", "earliest", "latest",
    "minAge", "maxAge", "other", "label", "subject", "range", "minAnswered", "dimensions", "policy", "onPublish",
    "drainDays", "migrations", "derivedFrom", "contentHash", "status", "exclusive", "presentation", "slug", "helpKey",
    "single_choice", "multi_choice", "slider", "ranking", "tags", "text", "date", "number", "height", "boolean", "info",
    "weighted_mean", "tag_vector", "2026-02-29", "2024-02-29", "person_name", "digits", "radio", "chips", "health", "é",
    "e\u{301}", "a/b~c", "",
]

extension JSONValue {
    /// Itself and every value in it, where each precedes its parts.
    fileprivate var parts: [JSONValue] {
        var all: [JSONValue] = []
        collect(into: &all)
        return all
    }

    private func collect(into all: inout [JSONValue]) {
        all.append(self)
        for child in children { child.value.collect(into: &all) }
    }

    private var children: [(name: String, value: JSONValue)] {
        switch self {
        case .array(let values): values.map { ("", $0) }
        case .object(let members): members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        default: []
        }
    }

    /// The value with one edit at a place, which counts down; `nil` where it is removed.
    fileprivate func edited(_ place: inout Int, _ edit: Edit) -> JSONValue? {
        place -= 1
        guard place >= 0 else {
            switch (edit, self) {
            case (.remove, _): return nil
            case (.replace(let value), _): return value
            case (.add(_, let value), .array(let values)): return .array(values + [value])
            case (.add(let name, let value), .object(let members)):
                return .object(members.merging([name: value]) { $1 })
            case (.add(_, let value), _): return value
            case (.shift(let distance), .integer(let value)): return .integer(value &+ distance)
            case (.shift, _): return self
            }
        }
        var kept: [(String, JSONValue)] = []
        for child in children {
            if place < 0 {
                kept.append(child)
            } else if let value = child.value.edited(&place, edit) {
                kept.append((child.name, value))
            }
        }
        if case .array = self { return .array(kept.map(\.1)) }
        if case .object = self { return .object(Dictionary(kept) { $1 }) }
        return self
    }
}

/// A definition with a part of each kind.
private let template: JSONValue = [
    "key": "fuzzed", "version": 1, "titleKey": "title", "locales": ["en", "sv"], "defaultLocale": "en",
    "strings": ["en": ["title": "T", "q": "Q", "o": "O"], "sv": ["title": "S", "q": "F", "o": "A"]],
    "dimensions": [["key": "calm", "method": "weighted_mean", "range": [0, 100], "minAnswered": 1]],
    "policy": ["onPublish": ["reask": "offer"], "drainDays": 30],
    "sections": [
        [
            "key": "one", "titleKey": "title",
            "questions": [
                [
                    "key": "mood", "type": "slider", "textKey": "q", "required": true, "default": 5,
                    "defaultCounts": true, "constraints": ["min": 1, "max": 10, "step": 1], "score": ["calm": 1],
                ],
                [
                    "key": "goals", "type": "multi_choice", "textKey": "q", "helpKey": "q",
                    "constraints": ["min": 1, "max": 2, "other": ["maxCount": 1, "maxLength": 80]],
                    "visibleIf": [">": [["var": "mood"], 3]],
                    "options": [
                        ["key": "a", "labelKey": "o", "score": ["calm": 0.5]],
                        ["key": "b", "labelKey": "o", "visibleIf": ["==": [["ctx": "locale"], "en"]]],
                        ["key": "none", "labelKey": "o", "exclusive": true],
                    ],
                    "preference": ["acceptable": true, "importance": [0, 10]],
                ],
                [
                    "key": "name", "type": "text", "textKey": "q", "skippable": true, "slug": "first-name",
                    "constraints": ["minLength": 1, "maxLength": 20, "pattern": "person_name"],
                    "extract": ["profileField": "displayName"],
                    "requiredIf": ["and": [["any_in": [["var": "goals"], ["a", "b"]]], ["not": false]]],
                ],
            ],
        ],
        [
            "key": "two", "repeat": ["subject": "child", "min": 1, "max": 3, "label": "called"],
            "questions": [
                ["key": "called", "type": "text", "textKey": "q"],
                ["key": "born", "type": "date", "textKey": "q", "constraints": ["minAge": 0, "maxAge": 120]],
                ["key": "well", "type": "boolean", "textKey": "q", "sensitive": "health"],
            ],
        ],
    ],
]
