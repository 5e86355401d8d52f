import Cryptography
import JSONText

/// E16: `derivedFrom` must name an earlier version with its hash.
struct DerivedFrom {
    /// The hashes of the earlier published versions by their number: 64 hexadecimal digits.
    private let hashes: [Int64: String]

    /// - Parameter contents: the earlier published versions.
    init(_ contents: [JSONValue]) {
        let hashes = contents.compactMap { content in
            content["version"]?.integerValue.map { ($0, Self.hash(of: content)) }
        }
        self.hashes = Dictionary(hashes, uniquingKeysWith: { first, _ in first })
    }

    func problems(in file: DefinitionFile) -> [DefinitionProblem] {
        guard let origin = file.derivedFrom else { return [] }
        guard let hash = hashes[origin.version] else {
            return [Self.problem("version", "There is no published version \(origin.version) before this one.")]
        }
        guard hash == origin.contentHash else {
            return [Self.problem("contentHash", "This is not the hash of version \(origin.version).")]
        }
        return []
    }

    private static func problem(_ member: String, _ message: String) -> DefinitionProblem {
        DefinitionProblem(code: "E16", pointer: "/derivedFrom/\(member)", message: message)
    }

    private static func hash(of content: JSONValue) -> String {
        Hex.encode(SHA256.digest(DefinitionParser.canonicalText(of: content)))
    }

    /// A draft that is a copy of a version.
    static func copy(of content: JSONValue) -> JSONValue {
        guard case .object(var members) = content, let version = members["version"] else { return content }
        members["derivedFrom"] = ["version": version, "contentHash": .string(hash(of: content))]
        return .object(members)
    }
}
