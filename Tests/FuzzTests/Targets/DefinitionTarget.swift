import Documents
import JSONText

@testable import QuestionnaireService

/// A text that begins with `{` is read as the file of a definition. Any other bytes are edits of a correct file, four
/// bytes each. With changes of single characters, a fuzzer would hardly ever make a file that can be parsed. Each
/// problem that is found has a place and can be shown, and a definition that is read has one canonical form.
func checkDefinition(_ bytes: [UInt8]) throws {
    let text = bytes.first == UInt8(ascii: "{") ? bytes : CanonicalJSON.bytes(of: template.edited(by: bytes).value)
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

private enum Edit {
    case remove, replace(Tree), add(String, Tree)
    /// An integer becomes another one near it: bounds then meet or cross.
    case shift(Int64)

    init(_ code: UInt8, argument: Int, other: Tree) {
        let word = words[argument % words.count]
        self =
            switch code % 7 {
            case 0: .remove
            case 1: .replace(other)
            case 2: .replace(literals[argument % literals.count])
            case 3: .replace(Tree(.string(word)))
            case 4: .add(word, other)
            case 5: .add(word, literals[argument / 7 % literals.count])
            default: .shift(Int64(argument % 16) - 8)
            }
    }
}

private let literals = [
    nil, true, false, 0, 1, -1, 2, 3, 500, 501, 2_147_483_648, 9_223_372_036_854_775_807, 0.5, 0.0001, 1e300, "", [],
    [:],
    ["var": "goals"], ["ctx": "locale"], ["profile": "gender"], ["==": [["var": "goals"], "a"]],
    ["and": [true, ["not": false]]], ["any_in": [["var": "goals"], ["a", "b"]]], ["in": [["var": "mood"], [1, 2]]],
    ["<": [["age": ["var": "born"]], 18]], ["count": [["var": "goals"]]],
].map { Tree($0) }

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

/// A value whose parts are numbered: itself, and then those of each member or element, in order. Each knows how many it has, so that
/// an edit visits only what contains its place.
private struct Tree {
    private enum Kind { case object, array, other(JSONValue) }

    private let kind: Kind
    /// Sorted by name, if it is an object.
    private var children: [(name: String, tree: Tree)]
    private var count: Int

    init(_ value: JSONValue) {
        (kind, children) =
            switch value {
            case .object(let members): (.object, members.sorted { $0.key < $1.key }.map { ($0.key, Tree($0.value)) })
            case .array(let values): (.array, values.map { ("", Tree($0)) })
            default: (.other(value), [])
            }
        count = children.reduce(1) { $0 + $1.tree.count }
    }

    var value: JSONValue {
        switch kind {
        case .object: .object(Dictionary(uniqueKeysWithValues: children.map { ($0.name, $0.tree.value) }))
        case .array: .array(children.map(\.tree.value))
        case .other(let value): value
        }
    }

    /// The tree after the edits. In each edit, the first byte chooses the kind, the second and third choose the part,
    /// and the fourth is the argument.
    func edited(by bytes: [UInt8]) -> Tree {
        var tree = self
        for start in stride(from: 0, to: bytes.count - 3, by: 4) where tree.count <= 2000 {
            let (place, argument) = (Int(bytes[start + 1]) << 8 | Int(bytes[start + 2]), Int(bytes[start + 3]))
            let other = tree.part((argument * 7 + Int(bytes[start + 2])) % tree.count)
            let edit = Edit(bytes[start], argument: argument, other: other)
            var number = place % tree.count
            if case .shift = edit {
                let integers = tree.integers(from: 0)
                guard !integers.isEmpty else { continue }
                number = integers[place % integers.count]
            }
            tree = tree.edited(number, edit) ?? Tree(.null)
        }
        return tree
    }

    private func part(_ number: Int) -> Tree {
        guard let (child, rest) = child(with: number) else { return self }
        return children[child].tree.part(rest)
    }

    /// The child that has a part, and the part's number in it; `nil` if it is the whole.
    private func child(with number: Int) -> (index: Int, number: Int)? {
        guard number > 0 else { return nil }
        var rest = number - 1
        for (index, child) in children.enumerated() {
            if rest < child.tree.count { return (index, rest) }
            rest -= child.tree.count
        }
        return nil
    }

    /// The numbers of the integers among the parts, where its own number is `start`.
    private func integers(from start: Int) -> [Int] {
        if case .other(let value) = kind { return value.integerValue == nil ? [] : [start] }
        var (next, found) = (start + 1, [Int]())
        for child in children {
            found += child.tree.integers(from: next)
            next += child.tree.count
        }
        return found
    }

    /// The tree with one edit; `nil` where it is removed.
    private func edited(_ number: Int, _ edit: Edit) -> Tree? {
        guard let (child, rest) = child(with: number) else { return edited(edit) }
        var children = children
        if let tree = children[child].tree.edited(rest, edit) {
            children[child].tree = tree
        } else {
            children.remove(at: child)
        }
        return with(children)
    }

    private func edited(_ edit: Edit) -> Tree? {
        switch (edit, kind) {
        case (.remove, _): return nil
        case (.replace(let tree), _): return tree
        case (.add(_, let tree), .array): return with(children + [("", tree)])
        case (.add(let name, let tree), .object):
            return with((children.filter { $0.name != name } + [(name, tree)]).sorted { $0.name < $1.name })
        case (.add(_, let tree), _): return tree
        case (.shift(let distance), .other(.integer(let value))): return Tree(.integer(value &+ distance))
        case (.shift, _): return self
        }
    }

    private func with(_ children: [(name: String, tree: Tree)]) -> Tree {
        var tree = self
        tree.children = children
        tree.count = children.reduce(1) { $0 + $1.tree.count }
        return tree
    }
}

/// A definition with a part of each kind.
private let template = Tree([
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
])
