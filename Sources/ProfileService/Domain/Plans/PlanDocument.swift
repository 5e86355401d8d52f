import Cryptography
import Documents
import JSONText

/// One version of a plan as in its file. Only its shape has been checked.
struct PlanDocument: VersionedDocument {
    let file: PlanFile
    let canonicalText: [UInt8]
    let hash: [UInt8]

    var key: String { file.key }
    var version: Int64 { file.version }

    /// - Parameter bytes: a JSON text of at most 256 KB.
    /// - Throws: the problems of the shape. Unknown members are refused.
    init(_ bytes: [UInt8]) throws(DocumentError) {
        let read = try DocumentText.read(bytes, as: PlanFile.self, PlanFile.schema, called: "plan")
        file = read.file
        canonicalText = DocumentText.canonicalText(of: read.document.root.value)
        hash = SHA256.digest(canonicalText)
    }

    /// - Parameter content: of a draft or a version.
    init(_ content: JSONValue) throws(DocumentError) { self = try PlanDocument(CanonicalJSON.bytes(of: content)) }
}

extension DocumentKind {
    /// The plans of onboarding.
    static let plan = DocumentKind(
        name: "plan", noun: "plan", versions: "plans", drafts: "plan_drafts", retirements: "plan_retirements")
}
