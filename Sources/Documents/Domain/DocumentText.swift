import BusProtocol
import Cryptography
import JSONText

/// One version of a document.
package protocol VersionedDocument: Sendable {
    /// The key of the document, which all of its versions share.
    var key: String { get }
    /// The number of the version, from 1.
    var version: Int64 { get }
    /// SHA-256 of ``canonicalText``: 32 bytes.
    var hash: [UInt8] { get }
    /// The form of RFC 8785, without the members of the life cycle (`status`, `contentHash`).
    var canonicalText: [UInt8] { get }
}

/// The JSON text of a document: its limits, its shape, and the form that is hashed.
package enum DocumentText {
    /// The limits for a document of ``mostBytes``.
    package static let limits = JSONLimits(depth: 24, values: 65_536)
    /// The most bytes of a document.
    package static let mostBytes = 262_144

    /// Reads a document and checks only its shape. It refuses unknown members instead of ignoring them.
    ///
    /// - Parameters:
    ///   - schema: the schema of the document.
    ///   - noun: the word for the document in messages, such as `definition`.
    /// - Throws: the problems of the shape.
    package static func read<File: Decodable>(
        _ bytes: [UInt8], as type: File.Type, _ schema: JSONSchema, called noun: String
    ) throws(DocumentError) -> (document: JSONDocument, file: File) {
        guard bytes.count <= mostBytes else { throw malformed("The \(noun) is larger than 256 KB.") }
        let document: JSONDocument
        do throws(JSONTextError) {
            document = try JSONDocument(bytes, limits: limits)
        } catch {
            throw malformed(error.description)
        }
        let problems = schema.problems(in: document.root).map {
            DocumentProblem(code: "malformed", pointer: $0.pointer, message: $0.message)
        }
        guard problems.isEmpty else { throw DocumentError(problems: problems) }
        do {
            return (document, try WireJSON.decode(type, from: document.root))
        } catch {
            throw malformed("The \(noun) cannot be read.")
        }
    }

    /// Reads the text of a draft or a version that is stored.
    ///
    /// - Throws: ``JSONTextError``.
    package static func value(_ content: String) throws(JSONTextError) -> JSONValue {
        try JSONValue.parse(Array(content.utf8), limits: limits)
    }

    /// The text that is hashed: everything except the members of the life cycle.
    package static func canonicalText(of value: JSONValue) -> [UInt8] {
        var members = value.objectValue ?? [:]
        members["status"] = nil
        members["contentHash"] = nil
        return CanonicalJSON.bytes(of: .object(members))
    }

    /// The document that publishing a draft would make. The server sets the version and the status. It also sets the
    /// key if the draft has none.
    ///
    /// - Parameters:
    ///   - key: `nil` if only the draft names its key.
    ///   - version: the newest version; 0 if there is none.
    package static func next(_ draft: JSONValue, of key: String?, after version: Int64) -> JSONValue {
        guard case .object(var members) = draft else { return draft }
        members["version"] = .integer(version + 1)
        (members["status"], members["contentHash"]) = (nil, nil)
        if members["key"] == nil { members["key"] = key.map { .string($0) } }
        return .object(members)
    }

    /// Whether two versions have the same content. Their numbers, their origins and their migrations do not count.
    package static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
        func content(_ value: JSONValue) -> [String: JSONValue] {
            (value.objectValue ?? [:]).filter { !["version", "derivedFrom", "migrations"].contains($0.key) }
        }
        return content(a) == content(b)
    }

    /// A schema as a document of JSON Schema 2020-12.
    package static func schema(_ schema: JSONSchema, title: String) -> String {
        var members = schema.exported(.publicRequest).objectValue ?? [:]
        members["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        members["title"] = .string(title)
        return PrettyJSON.text(of: .object(members))
    }

    private static func malformed(_ message: String) -> DocumentError {
        DocumentError("malformed", "", message)
    }
}
