import Cryptography
import Documents
import JSONText

/// All fields that a profile may have, with their rules and labels in each language. Plans select from it.
struct FieldLibrary: Sendable {
    let version: Int64
    /// The languages of the labels (RFC 5646). The first one is for people with any other language.
    let languages: [String]
    /// SHA-256 of the content in RFC 8785 form.
    let hash: [UInt8]
    /// The keys in the order of the file.
    let keys: [String]
    private let fields: [String: JSONValue]
    private let declining: JSONValue

    /// The library as it is used: with the rules made from it.
    struct Shipped: Sendable {
        let library: FieldLibrary
        /// All fields, each of them optional.
        let catalogue: FieldCatalogue
    }

    /// The library of this release. A service with an invalid file does not start.
    static let shipped = Result { () throws(DocumentError) in
        let library = try FieldLibrary(EmbeddedFiles.Fields.fields.bytes)
        return Shipped(library: library, catalogue: try PlanParser.everyField(of: library))
    }

    /// - Throws: ``DocumentError`` if the file is malformed, a key is used twice or a label is missing.
    init(_ bytes: [UInt8]) throws(DocumentError) {
        guard let file = try? JSONValue.parse(bytes, limits: DocumentText.limits),
            let version = file["version"]?.integerValue, version > 0, let fields = file["fields"]?.arrayValue,
            let languages = file["languages"]?.arrayValue?.compactMap(\.stringValue), !languages.isEmpty
        else { throw DocumentError("malformed", "", "The library of fields cannot be read.") }
        (self.version, self.languages) = (version, languages)
        hash = SHA256.digest(CanonicalJSON.bytes(of: file))
        keys = fields.compactMap { $0["key"]?.stringValue }
        self.fields = Dictionary(zip(keys, fields), uniquingKeysWith: { first, _ in first })
        guard keys.count == fields.count, Set(keys).count == keys.count else {
            throw DocumentError("duplicate_key", "/fields", "Each field needs a key of its own.")
        }
        declining = file["preferNotToSay"] ?? .null
        guard declining["key"] == .string(FieldCatalogue.declined) else {
            throw DocumentError("malformed", "/preferNotToSay/key", "The key must be \(FieldCatalogue.declined).")
        }
        for (place, field) in fields.enumerated() {
            for fill in field["lookup"]?["fills"]?.arrayValue ?? []
            where !keys.contains(fill["field"]?.stringValue ?? "") {
                throw DocumentError("unknown_field", "/fields/\(place)/lookup", "The search fills what is no field.")
            }
        }
        for (place, field) in ([declining] + fields).enumerated() {
            for language in languages where Self.translated(field, to: language) == nil {
                let pointer = place == 0 ? "/preferNotToSay" : "/fields/\(place - 1)"
                throw DocumentError("missing_text", pointer, "A label has no text in \(language).")
            }
        }
    }

    /// The members of a field with its labels in one language; `nil` if there is no such field.
    func field(_ key: String, in language: String) -> [String: JSONValue]? {
        fields[key].flatMap { Self.translated($0, to: languages.contains(language) ? language : languages[0]) }
    }

    /// The choice that every declinable field accepts in place of a value.
    func preferNotToSay(in language: String) -> JSONValue {
        .object(Self.translated(declining, to: languages.contains(language) ? language : languages[0]) ?? [:])
    }

    private static func translated(_ field: JSONValue, to language: String) -> [String: JSONValue]? {
        guard var members = field.objectValue, let label = members["label"]?[language] else { return nil }
        members["label"] = label
        guard let options = members["options"]?.arrayValue else { return members }
        var translated: [JSONValue] = []
        for option in options {
            guard var option = option.objectValue, let label = option["label"]?[language] else { return nil }
            option["label"] = label
            translated.append(.object(option))
        }
        members["options"] = .array(translated)
        return members
    }
}
