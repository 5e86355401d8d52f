import Cryptography
import JSONText

/// The published version that another version was copied from at first.
package struct DocumentOrigin: Decodable, Equatable, Sendable {
    /// The number of the version, from 1.
    package let version: Int64
    /// 64 hexadecimal digits.
    package let contentHash: String

    /// The JSON schema of the member `derivedFrom`.
    package static let schema = JSONSchema.object([
        .required("version", .integer(1...2_147_483_647)), .required("contentHash", .string(64...64)),
    ])
}

/// E16: `derivedFrom` must name an earlier version with its hash.
package struct DerivedFrom {
    /// The hashes of the earlier published versions by their number: 64 hexadecimal digits.
    private let hashes: [Int64: String]

    /// - Parameter contents: the earlier published versions.
    package init(_ contents: [JSONValue]) {
        let hashes = contents.compactMap { content in
            content["version"]?.integerValue.map { ($0, Self.hash(of: content)) }
        }
        self.hashes = Dictionary(hashes, uniquingKeysWith: { first, _ in first })
    }

    /// The problem of an origin, if there is one.
    ///
    /// - Parameter origin: `nil` if the document names none.
    package func problems(of origin: DocumentOrigin?) -> [DocumentProblem] {
        guard let origin else { return [] }
        guard let hash = hashes[origin.version] else {
            return [Self.problem("version", "There is no published version \(origin.version) before this one.")]
        }
        guard hash == origin.contentHash else {
            return [Self.problem("contentHash", "This is not the hash of version \(origin.version).")]
        }
        return []
    }

    private static func problem(_ member: String, _ message: String) -> DocumentProblem {
        DocumentProblem(code: "E16", pointer: "/derivedFrom/\(member)", message: message)
    }

    private static func hash(of content: JSONValue) -> String {
        Hex.encode(SHA256.digest(DocumentText.canonicalText(of: content)))
    }

    /// A draft that is a copy of a version.
    package static func copy(of content: JSONValue) -> JSONValue {
        guard case .object(var members) = content, let version = members["version"] else { return content }
        members["derivedFrom"] = ["version": version, "contentHash": .string(hash(of: content))]
        return .object(members)
    }
}
