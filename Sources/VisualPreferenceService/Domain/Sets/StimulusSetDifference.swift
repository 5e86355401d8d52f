import Documents
import JSONText

/// The kinds of changes of the stimulus set.
enum StimulusSetChangeKind: String, CaseIterable, ChangeKind {
    case keyChanged = "key_changed"
    case licenceChanged = "licence_changed"
    case textChanged = "text_changed"
    /// Another address of a picture.
    case imageChanged = "image_changed"
    /// Attributes or items have another order.
    case orderChanged = "order_changed"

    case itemAdded = "item_added"

    case itemRemoved = "item_removed"
    case attributeAdded = "attribute_added"
    case attributeRemoved = "attribute_removed"
    case levelsChanged = "levels_changed"

    var changeClass: ChangeClass {
        switch self {
        case .keyChanged, .licenceChanged, .textChanged, .imageChanged, .orderChanged: .editorial
        case .itemAdded: .additive
        case .itemRemoved, .attributeAdded, .attributeRemoved, .levelsChanged: .breaking
        }
    }
}

/// The differences between a version of the stimulus set and the one before it, each with its class.
struct StimulusSetDifference: DocumentDifference {
    private(set) var changes: [DocumentChange<StimulusSetChangeKind>] = []

    init(from old: StimulusSetDocument, to new: StimulusSetDocument) {
        let (had, has) = (old.file, new.file)
        if had.key != has.key { note(.keyChanged, "/key", [had.key, has.key]) }
        if had.licence != has.licence { note(.licenceChanged, "/licence", []) }
        compare(had.attributes, has.attributes, at: "/attributes", added: .attributeAdded, removed: .attributeRemoved)
        compare(had.items.map(\.id), has.items.map(\.id), at: "/items", added: .itemAdded, removed: .itemRemoved)
        let shared = had.attributes.filter(has.attributes.contains)
        let before = Dictionary(had.items.map { ($0.id, $0) }) { first, _ in first }
        for (place, item) in has.items.enumerated() {
            guard let same = before[item.id] else { continue }
            let pointer = "/items/\(place)"
            if Self.levels(of: same, had, shared) != Self.levels(of: item, has, shared) {
                note(.levelsChanged, "\(pointer)/levels", [item.id])
            }
            if same.image != item.image { note(.imageChanged, "\(pointer)/image", [item.id]) }
            if same.licence != item.licence { note(.licenceChanged, "\(pointer)/licence", [item.id]) }
            for language in Set(same.alt.keys).union(item.alt.keys).sorted()
            where same.alt[language] != item.alt[language] {
                note(.textChanged, "\(pointer)/alt/\(JSONPointer.escaped(language))", [item.id, language])
            }
        }
    }

    private mutating func note(_ kind: StimulusSetChangeKind, _ pointer: String, _ keys: [String]) {
        changes.append(.init(kind: kind, pointer: pointer, keys: keys))
    }

    /// Notes the keys of a list that came, went or changed places.
    private mutating func compare(
        _ before: [String], _ after: [String], at pointer: String, added: StimulusSetChangeKind,
        removed: StimulusSetChangeKind
    ) {
        for (place, key) in after.enumerated() where !before.contains(key) { note(added, "\(pointer)/\(place)", [key]) }
        for (place, key) in before.enumerated() where !after.contains(key) {
            note(removed, "\(pointer)/\(place)", [key])
        }
        if before.filter(after.contains) != after.filter(before.contains) { note(.orderChanged, pointer, []) }
    }

    /// The levels of an item in the order of some attributes. Only its shape has been checked, so a level may be missing.
    private static func levels(
        of item: StimulusSetDocument.Item, _ file: StimulusSetDocument.File, _ attributes: [String]
    ) -> [Double?] {
        let levels = Dictionary(zip(file.attributes, item.levels)) { first, _ in first }
        return attributes.map { levels[$0] }
    }
}
