// English only: writers of sets read it.

import Cryptography
import Documents
import JSONText

/// One version of the stimulus set as in its file. Only its shape has been checked.
struct StimulusSetDocument: VersionedDocument {
    /// One set is in use at a time. So all sets are versions of one document, even if they have different keys.
    static let key = "stimuli"

    struct Item: Decodable, Sendable {
        let id: String
        /// The text alternative of the picture, by language.
        let alt: [String: String]
        /// The level of each attribute, from −1 to 1.
        let levels: [Double]
        /// The address at which the operator serves the picture; `nil` for the program's picture with this ID.
        let image: String?
        /// The licence of this picture, if it is not that of the set.
        let licence: String?
    }

    struct File: Decodable, Sendable {
        /// The set's own key.
        let key: String
        let version: Int64
        /// The licence of the pictures: their makers, and the people who may use them.
        let licence: String
        let attributes: [String]
        let items: [Item]
    }

    let file: File
    let canonicalText: [UInt8]
    let hash: [UInt8]

    var key: String { Self.key }
    var version: Int64 { file.version }

    /// - Parameter bytes: a JSON text of at most 256 KB.
    /// - Throws: the problems of the shape. Unknown members are refused.
    init(_ bytes: [UInt8]) throws(DocumentError) {
        let read = try DocumentText.read(bytes, as: File.self, Self.schema, called: "set")
        file = read.file
        canonicalText = DocumentText.canonicalText(of: read.document.root.value)
        hash = SHA256.digest(canonicalText)
    }

    /// - Parameter content: of a draft or a version.
    init(_ content: JSONValue) throws(DocumentError) { try self.init(CanonicalJSON.bytes(of: content)) }
}

extension StimulusSetDocument {
    private static let key64 = JSONSchema.string(1...64)
    private static let text = JSONSchema.string(1...1000)

    private static let item = JSONSchema.object([
        .required("id", key64), .required("alt", .map(of: text, count: 1...100)),
        .required("levels", .array(of: .number(-1...1), count: 0...64)),
        .optional("image", .visibleASCII(1...2048)), .optional("licence", text),
    ])

    /// The JSON schema of a file.
    static let schema = JSONSchema.object([
        .required("key", key64), .required("version", .integer(1...2_147_483_647)), .required("licence", text),
        .required("attributes", .array(of: key64, count: 1...64)),
        .required("items", .array(of: item, count: 1...1000)),
    ])

    /// The schema as a document of JSON Schema 2020-12.
    static var schemaText: String { DocumentText.schema(schema, title: "A set of pictures to choose from") }
}

extension DocumentKind {
    /// The stimulus sets. None is ever retired: the newest version is in use.
    static let stimuli = DocumentKind(
        name: "stimuli", noun: "set", versions: "stimulus_sets", drafts: "stimulus_set_drafts", retirements: nil)
}
