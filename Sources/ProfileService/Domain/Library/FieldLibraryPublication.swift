import Documents
import JSONText

/// The version of the library of fields that publishing a draft would make. It is decided before anything is written.
struct FieldLibraryPublication: PublicationPlan {
    let document: FieldLibraryDocument
    let changes: [DocumentChange<FieldLibraryChangeKind>]

    /// - Parameters:
    ///   - draft: as it was written. Its `version` is ignored.
    ///   - newest: the newest published version.
    /// - Throws: every problem of the draft.
    init(_ draft: JSONValue, after newest: FieldLibraryDocument) throws(DocumentError) {
        document = try FieldLibraryDocument(
            DocumentText.next(draft, of: nil, after: newest.version))
        let difference = FieldLibraryDifference(from: newest, to: document)
        changes = difference.changes
        let problems = difference.problems + Self.problems(of: document)
        guard problems.isEmpty else { throw DocumentError(problems: problems) }
    }

    private static func problems(of document: FieldLibraryDocument) -> [DocumentProblem] {
        DocumentReport { () throws(DocumentError) in _ = try FieldLibrary.InUse(document) }.problems
    }

    /// The problems of a first version. It must have every field of this release, since some of them have rules of their
    /// own, such as the date of birth.
    static func problems(ofFirst document: FieldLibraryDocument) throws(DocumentError) -> [DocumentProblem] {
        let shipped = try FieldLibrary.shippedDocument.get()
        guard document.hash != shipped.hash else { return [] }
        return FieldLibraryDifference(from: shipped, to: document).problems + problems(of: document)
    }

    /// Reports all problems of a draft.
    static func report(on draft: JSONValue, after newest: FieldLibraryDocument) -> DocumentReport {
        DocumentReport { () throws(DocumentError) in _ = try FieldLibraryPublication(draft, after: newest) }
    }
}
