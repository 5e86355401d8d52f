import Cryptography
import Documents
import JSONText

/// One version of the library of fields as in its file. Only its shape has been checked.
struct FieldLibraryDocument: VersionedDocument {
    /// The key of the only library. The file does not contain it.
    static let key = "fields"

    let content: JSONValue
    let version: Int64
    /// The languages of the labels.
    let languages: [String]
    let canonicalText: [UInt8]
    let hash: [UInt8]

    var key: String { Self.key }

    private struct File: Decodable {
        var version: Int64
        var languages: [String]
    }

    /// - Parameter bytes: a JSON text of at most 256 KB.
    /// - Throws: the problems of the shape. Unknown members are refused.
    init(_ bytes: [UInt8]) throws(DocumentError) {
        let read = try DocumentText.read(bytes, as: File.self, Self.schema, called: "library")
        content = read.document.root.value
        (version, languages) = (read.file.version, read.file.languages)
        canonicalText = DocumentText.canonicalText(of: content)
        hash = SHA256.digest(canonicalText)
    }

    /// - Parameter content: of a draft or a version.
    init(_ content: JSONValue) throws(DocumentError) { try self.init(CanonicalJSON.bytes(of: content)) }
}

extension FieldLibraryDocument {
    private static let key64 = JSONSchema.string(1...64)
    private static let bound = JSONSchema.integer(-1_000_000...1_000_000)
    private static let label = JSONSchema.map(of: .string(1...200), count: 1...100)

    private static let option = JSONSchema.object([
        .required("key", key64), .required("label", label), .optional("exclusive", .boolean),
    ])

    private static let lookup = JSONSchema.object([
        .required("path", .string(1...200)), .required("parameter", key64),
        .required(
            "fills",
            .array(of: .object([.required("field", key64), .required("member", key64)]), count: 1...16)),
    ])

    private static let field = JSONSchema.object([
        .required("key", key64), .required("label", label),
        .required(
            "type",
            .values("text", "date", "single_choice", "multi_choice", "integer", "boolean", "url", "coordinates")),
        .required("sensitive", .boolean), .required("allowsPreferNotToSay", .boolean),
        .required("visibility", .values("public", "private")),
        .required("storage", .values("text", "text[]", "date", "integer", "boolean", "object")),
        .optional("format", .values("person_name", "single_line", "free_text")),
        .optional("min", bound), .optional("max", bound), .optional("minLength", .integer(0...4096)),
        .optional("maxLength", .integer(0...4096)), .optional("maxAge", .integer(0...150)),
        .optional("maxSelections", .integer(1...500)), .optional("unit", key64), .optional("suggestion", bound),
        .optional("options", .array(of: option, count: 1...500)), .optional("setOnce", .boolean),
        .required(
            "pattern", .object([.required("web", key64), .required("ios", key64), .required("android", key64)])),
        .optional("lookup", lookup),
        .optional(
            "members",
            .array(
                of: .object([.required("key", key64), .required("min", bound), .required("max", bound)]), count: 1...16)
        ),
    ])

    /// The JSON schema of a file.
    static let schema = JSONSchema.object([
        .required("version", .integer(1...2_147_483_647)),
        .required("languages", .array(of: .string(2...35), count: 1...100)),
        .required("preferNotToSay", .object([.required("key", key64), .required("label", label)])),
        .required("fields", .array(of: field, count: 1...64)),
    ])

    /// The schema as a document of JSON Schema 2020-12.
    static var schemaText: String { DocumentText.schema(schema, title: "A library of profile fields") }
}

extension DocumentKind {
    /// The library of fields. Its versions are never retired, because each has all fields of those before it.
    static let library = DocumentKind(
        name: "fields", noun: "library", versions: "field_libraries", drafts: "field_library_drafts", retirements: nil)
}
