import BusProtocol
import JSONText

/// The gravity of a change for people who are under way. The class of a version is that of its gravest change.
package enum ChangeClass: String, Sendable, CaseIterable, Comparable {
    /// Texts and order change. Nothing that a person gave is affected.
    case editorial
    /// More becomes possible. Everything that a person gave stays valid.
    case additive
    /// Scores are calculated again. Nobody is asked again.
    case rescore
    /// Something that a person gave is missing or no longer valid.
    case reask
    /// Something that a person gave loses its place.
    case breaking

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    package static func < (a: ChangeClass, b: ChangeClass) -> Bool { a.rank < b.rank }
}

/// The kinds of changes between versions of one kind of document. The raw value is the name on the wire.
package protocol ChangeKind: RawRepresentable<String>, Sendable, Hashable {
    /// The class of such a change.
    var changeClass: ChangeClass { get }
}

/// One difference between a version and the one before it.
package struct DocumentChange<K: ChangeKind>: Sendable, Hashable {
    /// The kinds of changes of this kind of document.
    package typealias Kind = K

    /// The kind of the change.
    package var kind: Kind
    /// The class of the kind, or a lower one if the version says how to keep what people gave.
    package var changeClass: ChangeClass
    /// JSON Pointer into the new version, or into the old one for something removed.
    package var pointer: String
    /// The keys of the parts, strings or languages that the change is about.
    package var keys: [String]

    /// Takes the members. Without a class, it is that of the kind.
    package init(kind: Kind, changeClass: ChangeClass? = nil, pointer: String, keys: [String]) {
        (self.kind, self.changeClass) = (kind, changeClass ?? kind.changeClass)
        (self.pointer, self.keys) = (pointer, keys)
    }
}

/// The changes from one version to another.
package protocol DocumentDifference {
    /// The kinds of changes.
    associatedtype Kind: ChangeKind
    /// The changes, in the order in which they were found.
    var changes: [DocumentChange<Kind>] { get }
}

extension DocumentDifference {
    /// The class of the gravest change; `nil` if there is no change.
    package var changeClass: ChangeClass? { changes.map(\.changeClass).max() }

    /// A line of text for each change, the gravest first, and a last line with the class of the version.
    package var lines: [String] {
        let sorted = changes.sorted { ($1.changeClass, $0.pointer) < ($0.changeClass, $1.pointer) }
        let told = sorted.map { change in
            let keys = change.keys.isEmpty ? "" : " (\(change.keys.joined(separator: ", ")))"
            return "\(change.changeClass.rawValue): \(change.kind.rawValue)\(keys) [\(change.pointer)]"
        }
        let count = "\(changes.count) change\(changes.count == 1 ? "" : "s")"
        return told + [changeClass.map { "\(count); the version is \($0.rawValue)" } ?? count]
    }

    /// The class and the changes, for a program.
    package var json: JSONValue {
        [
            "class": changeClass.map { .string($0.rawValue) } ?? .null,
            "changes": .array(changes.map { VersionChange($0).json(class: "class") }),
        ]
    }
}

extension VersionChange {
    /// The change on the wire.
    package init(_ change: DocumentChange<some ChangeKind>) {
        self.init(
            kind: change.kind.rawValue, changeClass: change.changeClass.rawValue, pointer: change.pointer,
            keys: change.keys)
    }

    /// - Parameter member: the name of the member with the class.
    func json(class member: String) -> JSONValue {
        [
            "kind": .string(kind), member: .string(changeClass), "pointer": .string(pointer),
            "keys": .array(keys.map { .string($0) }),
        ]
    }
}
