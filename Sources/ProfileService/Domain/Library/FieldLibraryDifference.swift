import Documents
import JSONText

/// The kinds of changes of the library of fields. A breaking one is never published.
enum FieldLibraryChangeKind: String, CaseIterable, ChangeKind {
    case labelChanged = "label_changed"
    /// Fields, languages or options have another order.
    case orderChanged = "order_changed"
    /// Another control, search or suggestion.
    case presentationChanged = "presentation_changed"

    case fieldAdded = "field_added"
    case optionAdded = "option_added"
    case boundWidened = "bound_widened"
    case languageAdded = "language_added"

    case fieldRemoved = "field_removed"
    /// The type, form, visibility or another such property of a field.
    case fieldRetyped = "field_retyped"
    case optionRemoved = "option_removed"
    case boundNarrowed = "bound_narrowed"
    case languageRemoved = "language_removed"

    var changeClass: ChangeClass {
        switch self {
        case .labelChanged, .orderChanged, .presentationChanged: .editorial
        case .fieldAdded, .optionAdded, .boundWidened, .languageAdded: .additive
        case .fieldRemoved, .fieldRetyped, .optionRemoved, .boundNarrowed, .languageRemoved: .breaking
        }
    }
}

/// The differences between a version of the library of fields and the one before it, each with its class.
struct FieldLibraryDifference: DocumentDifference {
    private(set) var changes: [DocumentChange<FieldLibraryChangeKind>] = []

    init(from old: FieldLibraryDocument, to new: FieldLibraryDocument) {
        compare(old.languages, new.languages, at: "/languages", added: .languageAdded, removed: .languageRemoved)
        let (before, after) = (old.content, new.content)
        compareLabels(before["preferNotToSay"], after["preferNotToSay"], at: "/preferNotToSay", [])
        let (had, has) = (Self.parts(before["fields"]), Self.parts(after["fields"]))
        compare(had.map(\.key), has.map(\.key), at: "/fields", added: .fieldAdded, removed: .fieldRemoved)
        for (place, field) in has.enumerated() {
            guard let same = had.first(where: { $0.key == field.key }) else { continue }
            compare(same.value, field.value, of: field.key, at: "/fields/\(place)")
        }
    }

    /// The reasons why a version with these changes cannot be published. A new version must keep everything that a plan
    /// or a person uses.
    var problems: [DocumentProblem] {
        changes.filter { $0.changeClass == .breaking }.map { change in
            DocumentProblem(
                code: change.kind.rawValue, pointer: change.pointer,
                message: "A newer version of the library may only add, widen and relabel.", keys: change.keys)
        }
    }

    private mutating func note(_ kind: FieldLibraryChangeKind, _ pointer: String, _ keys: [String]) {
        changes.append(.init(kind: kind, pointer: pointer, keys: keys))
    }

    private static func parts(_ list: JSONValue?) -> [(key: String, value: JSONValue)] {
        (list?.arrayValue ?? []).map { ($0["key"]?.stringValue ?? "", $0) }
    }

    /// Notes the keys of a list that came, went or changed places.
    private mutating func compare(
        _ before: [String], _ after: [String], at pointer: String, added: FieldLibraryChangeKind,
        removed: FieldLibraryChangeKind, in part: [String] = []
    ) {
        for (place, key) in after.enumerated() where !before.contains(key) {
            note(added, "\(pointer)/\(place)", part + [key])
        }
        for (place, key) in before.enumerated() where !after.contains(key) {
            note(removed, "\(pointer)/\(place)", part + [key])
        }
        if before.filter(after.contains) != after.filter(before.contains) { note(.orderChanged, pointer, part) }
    }

    /// A new language adds its texts everywhere, and is noted once.
    private mutating func compareLabels(_ before: JSONValue?, _ after: JSONValue?, at pointer: String, _ keys: [String])
    {
        let (had, has) = (before?["label"]?.objectValue ?? [:], after?["label"]?.objectValue ?? [:])
        for (language, text) in has.sorted(by: { $0.key < $1.key }) {
            guard let old = had[language], old != text else { continue }
            note(.labelChanged, "\(pointer)/label/\(JSONPointer.escaped(language))", keys + [language])
        }
    }

    private static let lowest: Set<String> = ["min", "minLength"]
    private static let highest: Set<String> = ["max", "maxLength", "maxAge", "maxSelections"]
    private static let presentation: Set<String> = ["pattern", "lookup", "suggestion"]

    private mutating func compare(_ before: JSONValue, _ after: JSONValue, of key: String, at pointer: String) {
        let (had, has) = (before.objectValue ?? [:], after.objectValue ?? [:])
        compareLabels(before, after, at: pointer, [key])
        for name in Set(had.keys).union(has.keys).sorted() where had[name] != has[name] {
            let inner = "\(pointer)/\(name)"
            switch name {
            case "label": break
            case "options": compareOptions(had[name], has[name], of: key, at: inner)
            case _ where Self.presentation.contains(name): note(.presentationChanged, inner, [key])
            case _ where Self.lowest.contains(name) || Self.highest.contains(name):
                note(isNarrower(had, has, name) ? .boundNarrowed : .boundWidened, inner, [key])
            default: note(.fieldRetyped, inner, [key])
            }
        }
    }

    /// Without `maxSelections`, a person may choose all options. If any other bound is missing, there is no limit.
    private func isNarrower(_ before: [String: JSONValue], _ after: [String: JSONValue], _ name: String) -> Bool {
        func value(_ field: [String: JSONValue]) -> Int64? {
            field[name]?.integerValue
                ?? (name == "maxSelections" ? field["options"]?.arrayValue.map { Int64($0.count) } : nil)
        }
        guard let has = value(after) else { return false }
        guard let had = value(before) else { return true }
        return Self.lowest.contains(name) ? has > had : has < had
    }

    private mutating func compareOptions(_ before: JSONValue?, _ after: JSONValue?, of key: String, at pointer: String)
    {
        let (had, has) = (Self.parts(before), Self.parts(after))
        compare(
            had.map(\.key), has.map(\.key), at: pointer, added: .optionAdded, removed: .optionRemoved, in: [key])
        for (place, option) in has.enumerated() {
            guard let same = had.first(where: { $0.key == option.key }) else { continue }
            compareLabels(same.value, option.value, at: "\(pointer)/\(place)", [key, option.key])
            if same.value["exclusive"] ?? false != option.value["exclusive"] ?? false {
                note(.fieldRetyped, "\(pointer)/\(place)/exclusive", [key, option.key])
            }
        }
    }
}
