import BusProtocol
import Cryptography
import Documents
import JSONText

/// A kind of document for tests: the dishes of a menu. A dish that goes is breaking, one that comes is additive.
struct Menu: VersionedDocument {
    struct File: Decodable, Sendable {
        var key: String
        var version: Int64
        var dishes: [String]
        var derivedFrom: DocumentOrigin?
    }

    enum Change: String, ChangeKind {
        case added = "dish_added"
        case removed = "dish_removed"

        var changeClass: ChangeClass { self == .added ? .additive : .breaking }
    }

    struct Difference: DocumentDifference {
        let changes: [DocumentChange<Change>]

        init(from old: File, to new: File) {
            func noted(_ kind: Change, _ some: [String], without others: [String]) -> [DocumentChange<Change>] {
                some.enumerated().filter { !others.contains($1) }.map {
                    DocumentChange(kind: kind, pointer: "/dishes/\($0)", keys: [$1])
                }
            }
            changes =
                noted(.added, new.dishes, without: old.dishes) + noted(.removed, old.dishes, without: new.dishes)
        }
    }

    struct Plan: PublicationPlan {
        let document: Menu
        let changes: [DocumentChange<Change>]

        init(_ draft: JSONValue, of key: String, after earlier: [JSONValue]) throws {
            let files = try earlier.map { try Menu(CanonicalJSON.bytes(of: $0)).file }
            let next = DocumentText.next(draft, of: key, after: files.last?.version ?? 0)
            document = try Menu(CanonicalJSON.bytes(of: next))
            let problems = document.problems + DerivedFrom(earlier).problems(of: document.file.derivedFrom)
            guard problems.isEmpty else { throw DocumentError(problems: problems) }
            changes = files.last.map { [document] in Difference(from: $0, to: document.file).changes } ?? []
        }
    }

    static let kind = DocumentKind(
        name: "menu", noun: "card", versions: "cards", drafts: "card_drafts", retirements: "card_retirements")

    static let schema = JSONSchema.object([
        .required("key", .string(1...64)), .required("version", .integer(1...1000)),
        .required("dishes", .array(of: .string(1...64), count: 0...100)),
        .optional("derivedFrom", .nullable(DocumentOrigin.schema)), .optional("status", .string(1...64)),
    ])

    let file: File
    let canonicalText: [UInt8]

    var key: String { file.key }
    var version: Int64 { file.version }
    var hash: [UInt8] { SHA256.digest(canonicalText) }
    var problems: [DocumentProblem] {
        file.dishes.isEmpty ? [DocumentProblem(code: "E01", pointer: "/dishes", message: "Nobody can eat.")] : []
    }

    init(_ bytes: [UInt8]) throws {
        let (document, file) = try DocumentText.read(bytes, as: File.self, Self.schema, called: "card")
        (self.file, canonicalText) = (file, DocumentText.canonicalText(of: document.root.value))
    }
}
