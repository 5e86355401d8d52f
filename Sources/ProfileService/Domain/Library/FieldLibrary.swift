import Documents
import JSONText

/// All fields that a profile may have, with their rules and labels in each language. Plans select from it.
struct FieldLibrary: Sendable {
    let version: Int64
    /// SHA-256 of its document.
    let hash: [UInt8]
    /// The languages of the labels (RFC 5646). The first one is for people with any other language.
    let languages: [String]
    /// The keys in the order of the file.
    let keys: [String]
    private let fields: [String: JSONValue]
    private let declining: JSONValue

    /// The library as it is used: with the rules made from it.
    struct InUse: Sendable {
        let library: FieldLibrary
        /// All fields, each of them optional.
        let catalogue: FieldCatalogue

        /// - Throws: every problem of the library.
        init(_ document: FieldLibraryDocument) throws(DocumentError) {
            library = try FieldLibrary(document)
            do throws(DocumentError) {
                catalogue = try PlanParser.everyField(of: library)
            } catch {
                throw DocumentError(
                    problems: error.problems.map {
                        DocumentProblem(code: $0.code, pointer: "/fields", message: $0.message, keys: $0.keys)
                    })
            }
        }
    }

    /// The library of this release. It is the first version. A service with an invalid file does not start.
    static let shipped = Result { () throws(DocumentError) in try InUse(shippedDocument.get()) }
    static let shippedDocument = Result { () throws(DocumentError) in
        try FieldLibraryDocument(EmbeddedFiles.Fields.fields.bytes)
    }

    /// - Throws: ``DocumentError`` if a key is used twice, a label is missing, or a search fills an unknown field.
    init(_ document: FieldLibraryDocument) throws(DocumentError) {
        let fields = document.content["fields"]?.arrayValue ?? []
        (version, hash, languages) = (document.version, document.hash, document.languages)
        keys = fields.compactMap { $0["key"]?.stringValue }
        self.fields = Dictionary(zip(keys, fields), uniquingKeysWith: { first, _ in first })
        declining = document.content["preferNotToSay"] ?? .null
        let problems = problems(of: fields)
        guard problems.isEmpty else { throw DocumentError(problems: problems) }
    }

    private func problems(of fields: [JSONValue]) -> [DocumentProblem] {
        var problems: [DocumentProblem] = []
        func refuse(_ code: String, _ pointer: String, _ message: String) {
            problems.append(DocumentProblem(code: code, pointer: pointer, message: message))
        }
        for (place, key) in keys.enumerated() where keys[..<place].contains(key) {
            refuse("duplicate_key", "/fields/\(place)/key", "The key \(key) is used twice.")
        }
        for (place, language) in languages.enumerated() where languages[..<place].contains(language) {
            refuse("duplicate_key", "/languages/\(place)", "\(language) is listed twice.")
        }
        if declining["key"] != .string(FieldCatalogue.declined) {
            refuse("malformed", "/preferNotToSay/key", "The key must be \(FieldCatalogue.declined).")
        }
        for (place, field) in fields.enumerated() {
            for (index, fill) in (field["lookup"]?["fills"]?.arrayValue ?? []).enumerated()
            where !keys.contains(fill["field"]?.stringValue ?? "") {
                refuse(
                    "unknown_field", "/fields/\(place)/lookup/fills/\(index)/field",
                    "The search fills what is no field.")
            }
        }
        for (place, field) in ([declining] + fields).enumerated() {
            for language in languages where Self.translated(field, to: language) == nil {
                let pointer = place == 0 ? "/preferNotToSay" : "/fields/\(place - 1)"
                refuse("missing_text", pointer, "A label has no text in \(language).")
            }
        }
        return problems
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
